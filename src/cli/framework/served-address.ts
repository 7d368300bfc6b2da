// Where the server of this home answers. A flag of `up` may override the configured address, and other commands do not know
// that flag.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { config, takeAddress } from '../../config.js'

interface Address {
  readonly host: string
  readonly port: number
}

/** Returns where the home's server answers now; null while it does not. */
export async function servedAddress(): Promise<Address | null> {
  const noted = notedServer()
  return noted !== null && (await answers(noted)) ? { host: noted.host, port: noted.port } : null
}

/** Makes this process write the same URLs as the home's server. It sends no request when the configuration has the same address. */
export async function useServedAddress(): Promise<void> {
  const { url, host, port } = config()
  const noted = notedServer()
  if (url !== null || noted === null || (noted.host === host && noted.port === port)) return
  if (await answers(noted)) takeAddress(noted)
}

export const urlOf = ({ host, port }: Address): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Returns the address that the last server of this home wrote down. */
function notedServer(): (Address & { readonly instance: string }) | null {
  try {
    const noted = JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as Address & {
      instance?: string
    }
    return noted.instance === undefined ? null : { ...noted, instance: noted.instance }
  } catch {
    return null
  }
}

/** Returns the number by which the health answers of the home's server differ from those of any other server. */
export const notedInstance = (): string | null => notedServer()?.instance ?? null

/**
 * Whether the server that noted this address answers there. This does not use fetch: when another program listens at
 * the port and hangs up without an answer, fetch never settles.
 */
async function answers(noted: Address & { readonly instance: string }): Promise<boolean> {
  // Loaded only when it is needed, so that commands start faster.
  const { get } = await import('../../lib/node-http.js')
  return new Promise(resolve => {
    const request = get(`${urlOf(noted)}/-/health`, response => {
      response.resume()
      resolve(response.statusCode === 200 && response.headers['x-gitstead-instance'] === noted.instance)
    })
    request.setTimeout(3000, () => request.destroy())
    request.once('error', () => resolve(false))
    request.once('close', () => resolve(false))
  })
}
