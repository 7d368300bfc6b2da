import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from 'sequelize'

/** A user's level in one project, or in one group's namespace. */
export class Member extends Model<InferAttributes<Member>, InferCreationAttributes<Member>> {
  declare id: CreationOptional<number>
  declare sourceType: 'project' | 'namespace'
  declare sourceId: number
  declare userId: number
  declare accessLevel: number
  declare notificationLevel: CreationOptional<number>
  /** A date as YYYY-MM-DD. */
  declare expiresAt: CreationOptional<string | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineMember(sequelize: Sequelize): void {
  Member.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      sourceType: DataTypes.STRING(16),
      sourceId: DataTypes.INTEGER.UNSIGNED,
      userId: DataTypes.INTEGER.UNSIGNED,
      accessLevel: DataTypes.TINYINT.UNSIGNED,
      notificationLevel: { type: DataTypes.TINYINT.UNSIGNED, defaultValue: 3 },
      expiresAt: DataTypes.DATEONLY,
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'members' }
  )
}
