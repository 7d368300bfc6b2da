import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize
} from '../connect/orm.js'

export class BroadcastMessage extends Model<
  InferAttributes<BroadcastMessage>,
  InferCreationAttributes<BroadcastMessage>
> {
  declare id: CreationOptional<number>
  declare message: string
  declare startsAt: Date
  declare endsAt: Date
  declare color: string
  declare font: string
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export function defineBroadcastMessage(sequelize: Sequelize): void {
  BroadcastMessage.init(
    {
      id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
      message: DataTypes.TEXT,
      startsAt: DataTypes.DATE(3),
      endsAt: DataTypes.DATE(3),
      color: DataTypes.STRING(16),
      font: DataTypes.STRING(16),
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3)
    },
    { sequelize, tableName: 'broadcast_messages' }
  )
}
