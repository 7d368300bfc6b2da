import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from '../connect/orm.js'

export class Project extends Model<InferAttributes<Project>, InferCreationAttributes<Project>> {
  declare id: CreationOptional<number>
  declare namespaceId: number
  declare creatorId: number | null
  declare name: string
  declare path: string
  declare description: CreationOptional<string | null>
  declare defaultBranch: CreationOptional<string | null>
  declare storage: string
  declare visibilityLevel: CreationOptional<number>
  declare archived: CreationOptional<boolean>
  declare issuesEnabled: CreationOptional<boolean>
  declare mergeRequestsEnabled: CreationOptional<boolean>
  declare buildsEnabled: CreationOptional<boolean>
  declare wikiEnabled: CreationOptional<boolean>
  declare snippetsEnabled: CreationOptional<boolean>
  declare containerRegistryEnabled: CreationOptional<boolean>
  declare lfsEnabled: CreationOptional<boolean>
  declare sharedRunnersEnabled: CreationOptional<boolean>
  declare publicBuilds: CreationOptional<boolean>
  declare requestAccessEnabled: CreationOptional<boolean>
  declare onlyAllowMergeIfBuildSucceeds: CreationOptional<boolean>
  declare onlyAllowMergeIfAllDiscussionsAreResolved: CreationOptional<boolean>
  /** A JSON array of strings. */
  declare tagList: CreationOptional<string>
  /** SECRET/NAME of an upload. */
  declare avatar: CreationOptional<string | null>
  declare runnersTokenHash: Buffer
  declare runnersTokenEncrypted: Buffer
  declare lastActivityAt: Date
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineProject(sequelize: Sequelize): void {
  // Each column gets its own object, because Sequelize writes the column into the object; a shared object would give
  // all columns the name of the first.
  const on = () => ({ type: DataTypes.BOOLEAN, defaultValue: true })
  const off = () => ({ type: DataTypes.BOOLEAN, defaultValue: false })
  Project.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      namespaceId: DataTypes.INTEGER.UNSIGNED,
      creatorId: DataTypes.INTEGER.UNSIGNED,
      name: DataTypes.STRING,
      path: DataTypes.STRING,
      description: DataTypes.STRING(2000),
      defaultBranch: DataTypes.STRING,
      storage: DataTypes.STRING(64),
      visibilityLevel: { type: DataTypes.TINYINT.UNSIGNED, defaultValue: 0 },
      archived: off(),
      issuesEnabled: on(),
      mergeRequestsEnabled: on(),
      buildsEnabled: on(),
      wikiEnabled: on(),
      snippetsEnabled: off(),
      containerRegistryEnabled: on(),
      lfsEnabled: on(),
      sharedRunnersEnabled: on(),
      publicBuilds: on(),
      requestAccessEnabled: off(),
      onlyAllowMergeIfBuildSucceeds: off(),
      onlyAllowMergeIfAllDiscussionsAreResolved: off(),
      tagList: { type: DataTypes.TEXT, defaultValue: '[]' },
      avatar: DataTypes.STRING(240),
      runnersTokenHash: DataTypes.BLOB,
      runnersTokenEncrypted: DataTypes.BLOB,
      lastActivityAt: DataTypes.DATE(3),
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'projects' }
  )
}
