// Commands work whether or not the appliance runs. While it is down, a command starts the database itself and stops it again.
import { setTimeout as sleep } from 'node:timers/promises'
import { replaceMissingKey, requireKey } from '../../areas/ground/settings/encryption-key.js'
import { joinStorages } from '../../cluster/storages.js'
import { config } from '../../config.js'
import { closeDatabase } from '../../db/connect/connection.js'
import { type EmbeddedDatabase, embeddedState, startEmbedded } from '../../db/embedded/embedded.js'
import { migrateUp, migrating, requireSchema, schemaIsNew } from '../../db/schema/migrate.js'
import { refuseOthers, requireHome, stateOfHome } from '../../home.js'
import { endAll } from '../../lib/shutdown.js'
import { compose } from '../../product.js'
import { closeWake } from '../../queue/wake.js'
import { useServedAddress } from './served-address.js'

export interface DatabaseUse {
  /** The command creates an appliance when there is none, and reports it. Other commands never create one. */
  readonly makes?: boolean
  /** Accept every schema. */
  readonly anySchema?: boolean
  /** Give the embedded database the password of secrets.json, which is created when it is missing. */
  readonly setsPassword?: boolean
}

/**
 * Runs `work` with a database that answers. When the embedded database is down, this function starts it, and stops it
 * afterwards. When another command runs the embedded database, it waits until that command stops it. It never changes an
 * existing schema. Throws NoHome when there is no appliance, Unavailable when the database does not answer or its schema is
 * being migrated, and Misconfigured when the schema is old or the key is that of another appliance.
 */
export async function withDatabase<T>(work: () => Promise<T>, use: DatabaseUse = {}): Promise<T> {
  compose()
  // Data in an external database can be read without a home.
  if (use.makes || config().database.url !== null) refuseOthers()
  else {
    if (use.setsPassword && stateOfHome().state === 'locked') replaceMissingKey()
    requireHome()
  }
  await useServedAddress()
  const own = config().database.url === null ? await startIfDown(use.setsPassword) : undefined
  try {
    if (!use.anySchema) {
      if (own && use.makes && (await schemaIsNew())) await makeSchema()
      await requireSchema().catch(async error => {
        // The first start runs this database, and its server has not begun to migrate yet.
        if (config().database.url === null && !own && (await schemaIsNew())) throw migrating()
        throw error
      })
      await requireKey({ makes: use.makes ?? false })
      await joinStorages()
    }
    return await work()
  } finally {
    closeWake()
    await endAll()
    await closeDatabase()
    await own?.stop()
  }
}

async function makeSchema(): Promise<void> {
  await migrateUp()
  process.stderr.write(`gitstead: created a new appliance in ${config().home}\n`)
}

async function startIfDown(setsPassword = false): Promise<EmbeddedDatabase | undefined> {
  for (let tries = 0; tries < 300; tries++) {
    const { up, transient } = await embeddedState()
    if (up && !transient) return undefined
    if (!up) break
    await sleep(100)
  }
  return startEmbedded({ transient: true, setsPassword })
}
