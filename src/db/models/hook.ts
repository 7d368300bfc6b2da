import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from 'sequelize'

export class SystemHook extends Model<InferAttributes<SystemHook>, InferCreationAttributes<SystemHook>> {
  declare id: CreationOptional<number>
  declare url: string
  declare tokenEncrypted: CreationOptional<Buffer | null>
  declare pushEvents: CreationOptional<boolean>
  declare tagPushEvents: CreationOptional<boolean>
  declare noteEvents: CreationOptional<boolean>
  declare issuesEvents: CreationOptional<boolean>
  declare mergeRequestsEvents: CreationOptional<boolean>
  declare enableSslVerification: CreationOptional<boolean>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineSystemHook(sequelize: Sequelize): void {
  const flag = (defaultValue: boolean) => ({ type: DataTypes.BOOLEAN, defaultValue })
  SystemHook.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      url: DataTypes.STRING(2000),
      tokenEncrypted: DataTypes.BLOB,
      pushEvents: flag(true),
      tagPushEvents: flag(false),
      noteEvents: flag(false),
      issuesEvents: flag(false),
      mergeRequestsEvents: flag(false),
      enableSslVerification: flag(true),
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'system_hooks' }
  )
}
