// Authenticates clients by their key: one statement finds it by its fingerprint, and the client proves that it has the private key.
import type { AuthContext, PublicKeyAuthContext } from 'ssh2'
import ssh2 from 'ssh2'
import { countWrongToken } from '../../areas/people/credentials/login-throttle.js'
import { findLogin, fingerprintOf } from '../../areas/projects/ssh/logins.js'
import { Failure } from '../../errors.js'
import { log } from '../../log.js'
import { sshCounts } from './counts.js'

/** Keys and other methods that one connection may try. An agent offers all its keys, one after the other. */
const MOST_TRIES = 20

export interface Authentication {
  readonly address: string
  /** Called once, when the client has proved that it has the key with this fingerprint. */
  readonly admit: (fingerprint: string) => void
  /** Cuts the client off. */
  readonly cut: (reason: string) => void
}

/** Returns the function that decides about each try of one connection. */
export function authentication({ address, admit, cut }: Authentication): (context: AuthContext) => Promise<void> {
  let wrong = 0
  const refuse = (context: AuthContext) => {
    // Clients begin with this method to learn which methods the server offers.
    if (context.method === 'none') return context.reject(['publickey'])
    if (context.method === 'publickey') {
      sshCounts.wrongKeys++
      countWrongToken(address)
    }
    if (++wrong >= MOST_TRIES) return cut(`more than ${MOST_TRIES} keys were tried`)
    context.reject(['publickey'])
  }
  return async context => {
    try {
      const fingerprint = context.method === 'publickey' ? await fingerprintOfRight(context) : null
      if (fingerprint === null) return refuse(context)
      if (context.method === 'publickey') {
        if (context.signature) admit(fingerprint)
        else nameAsAsked(context)
      }
      context.accept()
    } catch (error) {
      // This address tried too many wrong keys, or the database is unavailable.
      if (!(error instanceof Failure)) log().error({ error }, 'a login over SSH failed')
      cut(error instanceof Failure ? error.message : 'the server cannot check keys now')
    }
  }
}

/** The fingerprint of the key that the client offers or proves to have; null for an unknown or unproven key. */
async function fingerprintOfRight({ key, signature, blob, hashAlgo }: PublicKeyAuthContext): Promise<string | null> {
  const fingerprint = fingerprintOf(key.data)
  const login = await findLogin(fingerprint)
  if (!login) return null
  const stored = ssh2.utils.parseKey(login.publicKey)
  if (stored instanceof Error || !stored.getPublicSSH().equals(key.data)) return null
  if (!signature) return fingerprint
  // Signatures with SHA-1 come without the name of an algorithm, and can be forged.
  if (stored.type === 'ssh-rsa' && hashAlgo !== 'sha256' && hashAlgo !== 'sha512') return null
  return blob && stored.verify(blob, signature, hashAlgo) === true ? fingerprint : null
}

/** The answer to an offered key repeats the name of its algorithm (RFC 8332). The library would always say `ssh-rsa`. */
function nameAsAsked({ key, hashAlgo }: PublicKeyAuthContext): void {
  if (hashAlgo) key.algo = `rsa-sha2-${hashAlgo.slice('sha'.length)}`
}
