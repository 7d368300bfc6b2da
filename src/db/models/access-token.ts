import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from 'sequelize'

/** A private token or a personal access token. A user has one private token, and it can be shown again. */
export class AccessToken extends Model<InferAttributes<AccessToken>, InferCreationAttributes<AccessToken>> {
  declare id: CreationOptional<number>
  declare tokenHash: Buffer
  declare userId: number
  declare kind: 'private' | 'personal'
  declare name: CreationOptional<string>
  /** The scopes, separated by spaces. */
  declare scopes: CreationOptional<string>
  declare encrypted: CreationOptional<Buffer | null>
  declare createdAt: CreationOptional<Date>
  declare lastUsedAt: CreationOptional<Date | null>
  declare expiresAt: CreationOptional<Date | null>
  declare revokedAt: CreationOptional<Date | null>
}

export function defineAccessToken(sequelize: Sequelize): void {
  AccessToken.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      tokenHash: DataTypes.BLOB,
      userId: DataTypes.INTEGER.UNSIGNED,
      kind: DataTypes.STRING(16),
      name: { type: DataTypes.STRING, defaultValue: '' },
      scopes: { type: DataTypes.STRING, defaultValue: 'api' },
      encrypted: DataTypes.BLOB,
      createdAt: DataTypes.DATE(3),
      lastUsedAt: DataTypes.DATE(3),
      expiresAt: DataTypes.DATE(3),
      revokedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'access_tokens', updatedAt: false }
  )
}
