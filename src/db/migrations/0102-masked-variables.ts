import type { Migration } from './migration.js'

// Every line of at least 8 characters was masked before somebody could choose. The 2 keeps that rule for the values from then,
// so that the traces of an upgraded appliance do not show keys of several lines.
export const maskedVariables: Migration = {
  name: '0102-masked-variables',
  up: ['update variables set masked = 2 where masked is null'],
  down: ['update variables set masked = null where masked = 2']
}
