// Sequelize. Only this module loads it, so that a build can join its files here: see scripts/bundle.mjs.
export type { CreationOptional, InferAttributes, InferCreationAttributes } from 'sequelize'
export { DataTypes, Model, Sequelize, Transaction } from 'sequelize'
