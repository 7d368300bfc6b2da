// An appliance that listens, so that projects move from it into other namespaces of it.
import type { AddressInfo } from 'node:net'
import { loadConfig } from '../../../src/config.js'
import { testApp } from '../../helpers/app.js'

/** Starts it on a free port, with a new database. Returns its URL as well. */
export async function ownSource(t: Parameters<typeof testApp>[0]) {
  process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
  const app = await testApp(t)
  await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`
  process.env.GITSTEAD_URL = url
  loadConfig({})
  return { app, url }
}
