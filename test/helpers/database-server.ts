// The database server of a test run: the same embedded server that the appliance uses.
import { loadConfig } from '../../src/config.js'
import { databaseSocket, startEmbedded } from '../../src/db/embedded.js'
import { secrets } from '../../src/secrets.js'

export interface TestServer {
  /** A URL for `database.url`, without the name of a database. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts a server that stores its data in `home`. */
export async function startTestServer(home: string): Promise<TestServer> {
  loadConfig({ home })
  const server = await startEmbedded()
  const password = encodeURIComponent(secrets().database_password)
  const url = `mysql://root:${password}@localhost/?socket=${encodeURIComponent(databaseSocket())}`
  return { url, stop: server.stop }
}
