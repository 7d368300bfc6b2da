import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from '../connect/orm.js'

export class Hook extends Model<InferAttributes<Hook>, InferCreationAttributes<Hook>> {
  declare id: CreationOptional<number>
  /** Null for a system hook, which receives the events of the whole instance. */
  declare projectId: CreationOptional<number | null>
  declare url: string
  declare tokenEncrypted: CreationOptional<Buffer | null>
  declare pushEvents: CreationOptional<boolean>
  declare tagPushEvents: CreationOptional<boolean>
  declare noteEvents: CreationOptional<boolean>
  declare issuesEvents: CreationOptional<boolean>
  declare mergeRequestsEvents: CreationOptional<boolean>
  declare buildEvents: CreationOptional<boolean>
  declare pipelineEvents: CreationOptional<boolean>
  declare wikiPageEvents: CreationOptional<boolean>
  declare confidentialIssuesEvents: CreationOptional<boolean>
  declare enableSslVerification: CreationOptional<boolean>
  /** A disabled hook gets no new deliveries. */
  declare enabled: CreationOptional<boolean>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineHook(sequelize: Sequelize): void {
  const flag = (defaultValue: boolean) => ({ type: DataTypes.BOOLEAN, defaultValue })
  Hook.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      projectId: { type: DataTypes.INTEGER.UNSIGNED, allowNull: true },
      url: DataTypes.STRING(2000),
      tokenEncrypted: DataTypes.BLOB,
      pushEvents: flag(true),
      tagPushEvents: flag(false),
      noteEvents: flag(false),
      issuesEvents: flag(false),
      mergeRequestsEvents: flag(false),
      buildEvents: flag(false),
      pipelineEvents: flag(false),
      wikiPageEvents: flag(false),
      confidentialIssuesEvents: flag(false),
      enableSslVerification: flag(true),
      enabled: flag(true),
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'hooks' }
  )
}
