import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from '../connect/orm.js'

/** The container of projects: the namespace of a user, or a group. */
export class Namespace extends Model<InferAttributes<Namespace>, InferCreationAttributes<Namespace>> {
  declare id: CreationOptional<number>
  declare kind: 'user' | 'group'
  declare ownerId: number | null
  declare name: string
  declare path: string
  declare description: CreationOptional<string>
  declare avatar: CreationOptional<string | null>
  declare visibilityLevel: CreationOptional<number>
  declare shareWithGroupLock: CreationOptional<boolean>
  declare requestAccessEnabled: CreationOptional<boolean>
  declare lfsEnabled: CreationOptional<boolean>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineNamespace(sequelize: Sequelize): void {
  Namespace.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      kind: DataTypes.STRING(8),
      ownerId: DataTypes.INTEGER.UNSIGNED,
      name: DataTypes.STRING,
      path: DataTypes.STRING,
      description: { type: DataTypes.STRING, defaultValue: '' },
      avatar: DataTypes.STRING,
      visibilityLevel: { type: DataTypes.TINYINT.UNSIGNED, defaultValue: 0 },
      shareWithGroupLock: { type: DataTypes.BOOLEAN, defaultValue: false },
      requestAccessEnabled: { type: DataTypes.BOOLEAN, defaultValue: false },
      lfsEnabled: { type: DataTypes.BOOLEAN, defaultValue: true },
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'namespaces' }
  )
}
