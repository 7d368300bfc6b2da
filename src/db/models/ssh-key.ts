import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from 'sequelize'

export class SshKey extends Model<InferAttributes<SshKey>, InferCreationAttributes<SshKey>> {
  declare id: CreationOptional<number>
  declare userId: number
  declare title: string
  /** The key as its owner entered it: type, base64 and perhaps a comment. */
  declare publicKey: string
  /** The SHA256 of the key's blob, in base64 without padding. */
  declare fingerprint: string
  declare createdAt: CreationOptional<Date>
  declare lastUsedAt: CreationOptional<Date | null>
}

export function defineSshKey(sequelize: Sequelize): void {
  SshKey.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      userId: DataTypes.INTEGER.UNSIGNED,
      title: DataTypes.STRING,
      publicKey: DataTypes.TEXT,
      fingerprint: DataTypes.STRING(64),
      createdAt: DataTypes.DATE(3),
      lastUsedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'ssh_keys', updatedAt: false }
  )
}
