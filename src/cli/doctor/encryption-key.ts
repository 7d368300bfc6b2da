// Checks that the key of the home is that of the database, and that it decrypts what the database has encrypted.
import { findUndecryptable } from '../../areas/ground/settings/encrypted-values.js'
import { problemOfKey, stateOfKey } from '../../areas/ground/settings/encryption-key.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check } from './check.js'

const SHOWN = 20

export const encryptionKeyCheck: Check = {
  name: 'encryption_key',
  about: 'the key in secrets.json is that of the database, and decrypts its encrypted values (--all: every one)',
  needs: 'rows',
  examine: async ({ all }) => {
    const state = await stateOfKey()
    if (state === 'new') return 'the first start creates it'
    if (state === 'wrong' || state === 'missing') {
      const { fault, remedy } = problemOfKey(state)
      throw new Ailment(fault, remedy)
    }
    const lost = await findUndecryptable({ all })
    if (lost.length === 0)
      return `it is that of the database, and decrypts ${all ? 'every value' : 'the newest values'}`
    throw new Ailment(
      `${counted(lost.length, 'encrypted value')} cannot be decrypted`,
      'another machine with its own secrets.json may have written them: set them again, or delete them',
      lost.slice(0, SHOWN).map(({ column, id }) => `${column} of row ${id}`)
    )
  }
}
