// Brings the schema up to date in its own process, and reports what it applied.
import { closeDatabase } from '../../src/db/connect/connection.js'
import { migrateUp } from '../../src/db/schema/migrate.js'

const applied = await migrateUp()
process.send?.(applied)
await closeDatabase()
process.disconnect?.()
