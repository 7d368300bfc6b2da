// Updates the schema in a separate process, and reports the applied migrations.
import { closeDatabase } from '../../src/db/connect/connection.js'
import { migrateUp } from '../../src/db/schema/migrate.js'

const applied = await migrateUp()
process.send?.(applied)
await closeDatabase()
process.disconnect?.()
