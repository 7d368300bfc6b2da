import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from '../connect/orm.js'

export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<number>
  declare username: string
  declare name: string
  declare email: string
  declare state: CreationOptional<'active' | 'blocked' | 'ldap_blocked'>
  declare blockReason: CreationOptional<string | null>
  declare dormancyWarnedAt: CreationOptional<Date | null>
  declare admin: CreationOptional<boolean>
  declare external: CreationOptional<boolean>
  declare adminByHand: CreationOptional<boolean>
  declare externalByHand: CreationOptional<boolean>
  declare passwordHash: string
  declare bio: CreationOptional<string | null>
  declare location: CreationOptional<string | null>
  declare messenger: CreationOptional<string>
  declare professionalNetwork: CreationOptional<string>
  declare microblog: CreationOptional<string>
  declare websiteUrl: CreationOptional<string>
  declare organization: CreationOptional<string>
  declare projectsLimit: CreationOptional<number>
  declare canCreateGroup: CreationOptional<boolean>
  declare themeId: CreationOptional<number>
  declare colorSchemeId: CreationOptional<number>
  declare confirmedAt: CreationOptional<Date | null>
  declare emailConfirmedAt: CreationOptional<Date | null>
  declare lastSignInAt: CreationOptional<Date | null>
  declare currentSignInAt: CreationOptional<Date | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineUser(sequelize: Sequelize): void {
  // Each column gets its own object, because Sequelize writes the column into the object.
  const text = () => ({ type: DataTypes.STRING, defaultValue: '' })
  User.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      username: DataTypes.STRING,
      name: DataTypes.STRING,
      email: DataTypes.STRING,
      state: { type: DataTypes.STRING(16), defaultValue: 'active' },
      blockReason: DataTypes.STRING(32),
      dormancyWarnedAt: DataTypes.DATE(3),
      admin: { type: DataTypes.BOOLEAN, defaultValue: false },
      external: { type: DataTypes.BOOLEAN, defaultValue: false },
      adminByHand: { type: DataTypes.BOOLEAN, defaultValue: false },
      externalByHand: { type: DataTypes.BOOLEAN, defaultValue: false },
      passwordHash: DataTypes.STRING,
      bio: DataTypes.STRING,
      location: DataTypes.STRING,
      messenger: text(),
      professionalNetwork: text(),
      microblog: text(),
      websiteUrl: text(),
      organization: text(),
      projectsLimit: { type: DataTypes.INTEGER, defaultValue: 10 },
      canCreateGroup: { type: DataTypes.BOOLEAN, defaultValue: true },
      themeId: { type: DataTypes.INTEGER, defaultValue: 1 },
      colorSchemeId: { type: DataTypes.INTEGER, defaultValue: 1 },
      confirmedAt: DataTypes.DATE(3),
      emailConfirmedAt: DataTypes.DATE(3),
      lastSignInAt: DataTypes.DATE(3),
      currentSignInAt: DataTypes.DATE(3),
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'users' }
  )
}
