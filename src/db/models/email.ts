import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from 'sequelize'

/** An additional address of a user. The primary address is in the row of the user. */
export class Email extends Model<InferAttributes<Email>, InferCreationAttributes<Email>> {
  declare id: CreationOptional<number>
  declare userId: number
  declare email: string
  declare createdAt: CreationOptional<Date>
}

export function defineEmail(sequelize: Sequelize): void {
  Email.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      userId: DataTypes.INTEGER.UNSIGNED,
      email: DataTypes.STRING,
      createdAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'emails', updatedAt: false }
  )
}
