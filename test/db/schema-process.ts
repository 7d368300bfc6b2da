// Brings the schema up to date in its own process, and reports what it applied.
import { closeDatabase } from '../../src/db/connection.js'
import { migrateUp } from '../../src/db/migrate.js'

const applied = await migrateUp()
process.send?.(applied)
await closeDatabase()
process.disconnect?.()
