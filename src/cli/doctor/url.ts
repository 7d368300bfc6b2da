// Checks the URL that users see, with a request as a client would send it: through DNS, the proxy and TLS.
import { config, publicUrl } from '../../config.js'
import { isEveryAddress } from '../../listening.js'
import { notedInstance } from '../framework/served-address.js'
import { Ailment, type Check } from './check.js'

const PATIENCE = 5000
const DAY = 86_400_000
/** Days. Programs that renew certificates do so a month before their end. */
const SHORT_CERTIFICATE = 14

const SKIP = 'if only this machine cannot reach it, such as from behind NAT, leave out this check: --skip url'

export const urlCheck: Check = {
  name: 'url',
  about: 'users can reach the URL that the appliance shows them, and its certificate is valid for 14 days',
  examine: async ({ serverUp, serverUrl, now }) => {
    const { url } = config()
    const shown = url === null && serverUp ? serverUrl : publicUrl()
    if (isEveryAddress(new URL(shown).hostname)) {
      throw new Ailment(
        `users see the URL ${shown}, which they cannot reach`,
        'set url in config.yaml to the address that users type, such as url: http://git.example.org:8080'
      )
    }
    if (!serverUp) return `users see the URL ${shown}; the server is down, so nothing was requested`
    const { instance, validTo } = await request(shown)
    // The other machines of an appliance have an outside database.
    if (instance !== notedInstance() && config().database.url === null)
      throw new Ailment(`another appliance answers at ${shown}`, 'correct url, its name in DNS, or the proxy')
    const found = `the server answers at ${shown}${validTo === null ? '' : certificate(shown, validTo, now)}`
    if (url !== null) return found
    return { found, next: 'set url in config.yaml to the address that users type, such as https://git.example.org' }
  }
}

function certificate(shown: string, validTo: Date, now: Date): string {
  const days = Math.floor((validTo.getTime() - now.getTime()) / DAY)
  if (days < SHORT_CERTIFICATE) throw new Ailment(`the certificate of ${shown} ends in ${days} days`, 'renew it')
  return `, with a certificate for ${days} more days`
}

interface Answer {
  readonly instance: string
  /** The end of the certificate; null without TLS. */
  readonly validTo: Date | null
}

async function request(shown: string): Promise<Answer> {
  const [{ get }, { TLSSocket }] = await Promise.all([
    shown.startsWith('https:') ? import('node:https') : import('../../lib/node-http.js'),
    import('node:tls')
  ])
  return new Promise((resolve, reject) => {
    const asked = get(`${shown}/-/health`, { agent: false }, response => {
      response.resume()
      const { socket, statusCode, headers } = response
      const instance = headers['x-gitstead-instance']
      if (statusCode === 200 && typeof instance === 'string')
        return resolve({
          instance,
          validTo: socket instanceof TLSSocket ? new Date(socket.getPeerCertificate().valid_to) : null
        })
      const answer = headers.location === undefined ? `status ${statusCode}` : `a redirect to ${headers.location}`
      reject(new Ailment(`${shown} answers with ${answer}, not as this appliance`, 'correct url, or the proxy'))
    })
    asked.setTimeout(PATIENCE, () => asked.destroy(new Error(`no answer within ${PATIENCE / 1000} s`)))
    asked.once('error', error => reject(new Ailment(`${shown} cannot be reached: ${error.message}`, remedyOf(error))))
  })
}

function remedyOf({ code = '' }: NodeJS.ErrnoException): string {
  if (/CERT|SELF_SIGNED|VERIFY/.test(code))
    return 'renew or correct the certificate; for an authority of your own, set NODE_EXTRA_CA_CERTS to its file'
  return `correct url, its name in DNS, or the proxy; ${SKIP}`
}
