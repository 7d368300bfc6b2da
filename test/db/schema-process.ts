// Brings the schema up to date in a process of its own, and tells what it did.
import { closeDatabase } from '../../src/db/connection.js'
import { migrateUp } from '../../src/db/migrate.js'

const applied = await migrateUp()
process.send?.(applied)
await closeDatabase()
process.disconnect?.()
