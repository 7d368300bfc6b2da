// A passkey in software, which also does what no honest browser does: it signs for other origins, and its counter goes back.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id?: string }
  readonly user?: { readonly id: string }
}

/** What differs from an honest answer. */
export interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  readonly counter?: number
  /** Whether the person has entered a PIN, or shown a finger. */
  readonly verified?: boolean
  readonly userHandle?: string
  /** The statement of an attestation. */
  readonly fmt?: string
  readonly statement?: ReadonlyMap<string, unknown>
}

const PRESENT = 1
const VERIFIED = 4
const HAS_KEY = 64

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

export class Authenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly id = randomBytes(16).toString('base64url')
  #handle = ''
  #rpId = ''
  #counter = 0

  constructor(readonly origin: string) {}

  /** The answer to `navigator.credentials.create`, as JSON. */
  create(options: Options, lies: Lies = {}): string {
    this.#handle = options.user?.id ?? ''
    this.#rpId = options.rp?.id ?? ''
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))]
    ])
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const made = Buffer.concat([Buffer.alloc(16), length, id, Buffer.from(isoCBOR.encode(key as never))])
    const authData = Buffer.concat([this.#head(HAS_KEY, lies), made])
    const attestation = new Map<string, unknown>([
      ['fmt', lies.fmt ?? 'none'],
      ['attStmt', lies.statement ?? new Map()],
      ['authData', new Uint8Array(authData)]
    ])
    return this.#answer({
      clientDataJSON: this.#clientData('webauthn.create', options, lies).toString('base64url'),
      attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
      transports: ['internal']
    })
  }

  /** The answer to `navigator.credentials.get`, as JSON. */
  get(options: Options, lies: Lies = {}): string {
    const client = this.#clientData('webauthn.get', options, lies)
    const authData = this.#head(0, lies)
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', Buffer.concat([authData, sha256(client)]), this.#keys.privateKey).toString('base64url'),
      userHandle: lies.userHandle ?? this.#handle
    })
  }

  #head(flags: number, { rpId = this.#rpId, counter = ++this.#counter, verified = true }: Lies): Buffer {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags | PRESENT | (verified ? VERIFIED : 0))
    head.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(rpId), head])
  }

  #clientData(type: string, options: Options, lies: Lies): Buffer {
    const { challenge, origin, crossOrigin } = {
      challenge: options.challenge,
      origin: this.origin,
      crossOrigin: false,
      ...lies
    }
    return Buffer.from(JSON.stringify({ type: lies.type ?? type, challenge, origin, crossOrigin }))
  }

  #answer(response: object): string {
    return JSON.stringify({ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response })
  }
}
