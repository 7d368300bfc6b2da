// Follows one person from the directory to the account, and says of each step what it found.
import type { Entry } from 'ldapts'
import { withDirectory } from '../../../../ldap/connection.js'
import type { Directory } from '../../../../ldap/directory.js'
import { DirectoryFailure } from '../../../../ldap/failure.js'
import { grantsIn } from '../../../../ldap/grants.js'
import { groupsOf, needsGroups } from '../../../../ldap/groups.js'
import { findEntries } from '../../../../ldap/people.js'
import { type DirectoryPerson, personOf } from '../../../../ldap/person.js'
import { levelName } from '../../../../lib/levels.js'
import { isBlockedBy } from '../../users/user-state.js'
import { findByIdentity } from '../provision.js'
import { existingGroups, holderOfAddress } from './check.queries.js'

const STEPS = ['connect', 'tls', 'bind', 'search', 'entry', 'attributes', 'groups', 'mapping', 'account'] as const
type CheckStep = (typeof STEPS)[number]

export interface CheckedStep {
  readonly step: CheckStep
  readonly ok: boolean
  readonly found: string
  /** What to do about it; null when nothing is wrong. */
  readonly remedy: string | null
}

/** Groups that the result shows. */
const SHOWN = 20

const right = (step: CheckStep, found: string): CheckedStep => ({ step, ok: true, found, remedy: null })
const wrong = (step: CheckStep, found: string, remedy: string): CheckedStep => ({ step, ok: false, found, remedy })

/** Returns the steps up to the first one that the next cannot do without. */
export async function checkPerson(directory: Directory, login: string): Promise<CheckedStep[]> {
  const steps: CheckedStep[] = []
  try {
    await withDirectory(directory, async connection => {
      steps.push(...connected(directory))
      const entries = await findEntries(connection, directory, login)
      const entry = theOne(directory, login, entries, steps)
      if (!entry) return
      const person = personIn(directory, entry, steps)
      if (!person) return
      const groups = needsGroups(directory)
        ? await groupsOf(connection, directory, person, new Map())
        : new Set<string>()
      if (groups === null) steps.push(wrong('groups', 'too many groups', 'put the person into fewer groups'))
      else await followGroups(directory, groups, steps)
      steps.push(await accountOf(directory, person))
    })
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error
    if (steps.length === 0) steps.push(...connected(directory).filter(({ step }) => isBefore(step, error.step)))
    steps.push(wrong(error.step === 'sign-in' ? 'bind' : error.step, error.message, error.remedy))
  }
  return steps
}

const isBefore = (step: CheckStep, failed: string) => STEPS.indexOf(step) < STEPS.indexOf(failed as CheckStep)

function connected({ urls, starttls, verify, bind_dn: dn }: Directory): CheckedStep[] {
  const plain = urls.some(url => url.startsWith('ldap:')) && !starttls
  const tls = verify
    ? right('tls', 'the certificate is valid')
    : wrong('tls', 'the certificate is not checked', 'set verify to true, and ca to the file of its issuer')
  return [
    right('connect', urls.join(', ')),
    plain ? right('tls', 'not used: the directory is on this machine') : tls,
    right('bind', dn ?? 'anonymous')
  ]
}

function theOne(
  { base, filter, attributes }: Directory,
  login: string,
  entries: readonly Entry[],
  steps: CheckedStep[]
): Entry | undefined {
  const [entry, other] = entries
  const where = `below ${base}, with ${filter}`
  if (!entry) {
    const remedy = `correct base, filter and attributes.username (${attributes.username}), or let bind_dn read the entry`
    steps.push(wrong('search', `no entry ${where} has the name ${JSON.stringify(login)}`, remedy))
  } else if (other) {
    const remedy = 'make the filter narrower, or correct the entries: nobody signs in with such a name'
    steps.push(wrong('search', `several entries: ${entry.dn}; ${other.dn}`, remedy))
  } else {
    steps.push(right('search', `one entry ${where}`))
    return entry
  }
  return undefined
}

function personIn(directory: Directory, entry: Entry, steps: CheckedStep[]): DirectoryPerson | undefined {
  const person = personOf(entry, directory)
  if (typeof person === 'string') {
    steps.push(wrong('entry', `${entry.dn}: ${person}`, 'correct attributes, or the entry'))
    return undefined
  }
  const { dn, disabled, uid, username, name, email } = person
  steps.push(
    disabled
      ? wrong('entry', `${dn} is switched off`, 'switch the account on in the directory')
      : right('entry', `${dn} is active`)
  )
  const shown = `id ${uid}, username ${username}, name ${name}, address ${email ?? 'none'}`
  if (email === null) {
    const remedy = `add ${directory.attributes.email} to the entry, or correct attributes.email`
    steps.push(wrong('attributes', shown, remedy))
  } else steps.push(right('attributes', shown))
  return person
}

async function followGroups(directory: Directory, groups: ReadonlySet<string>, steps: CheckedStep[]): Promise<void> {
  if (!needsGroups(directory)) {
    steps.push(right('groups', 'not needed: groups of the directory give nothing'))
    return
  }
  const listed = [...groups].slice(0, SHOWN).join('; ')
  const more = groups.size > SHOWN ? `, and ${groups.size - SHOWN} more` : ''
  steps.push(right('groups', groups.size === 0 ? 'none' : `${listed}${more}`))
  const { admin, external, groups: given } = grantsIn(directory, groups)
  const known = await existingGroups([...given.keys()])
  const missing = [...given.keys()].filter(path => !known.has(path.toLowerCase()))
  const said = [
    ...[...given].map(([path, level]) => `${levelName(level)} in ${path}`),
    ...(admin ? ['administrator'] : []),
    ...(external ? ['external user'] : [])
  ]
  const found = said.length === 0 ? 'these groups give nothing' : said.join(', ')
  if (missing.length === 0) steps.push(right('mapping', found))
  else
    steps.push(
      wrong('mapping', `${found}; missing here: ${missing.join(', ')}`, 'create the groups, or correct groups.members')
    )
}

async function accountOf(directory: Directory, { uid, email }: DirectoryPerson): Promise<CheckedStep> {
  const { name, create } = directory
  const account = await findByIdentity(name, uid)
  if (account?.state === 'active') return right('account', `${account.username}, which is active`)
  if (account && isBlockedBy(name, { state: account.state, blockReason: account.block_reason }))
    return right('account', `${account.username}, which the next sign-in unblocks`)
  if (account) return wrong('account', `${account.username} is blocked`, `gitstead users unblock ${account.username}`)
  const holder = email === null ? undefined : await holderOfAddress(email)
  if (holder !== undefined) {
    const remedy = `gitstead identities link ${holder} ${name} ${uid}`
    return wrong('account', `${holder} has the address, and is not linked`, remedy)
  }
  if (create === 'never') return wrong('account', 'none, and create is never', 'create one, and link it')
  return right(
    'account',
    `none yet: ${create === 'sync' ? 'the next synchronization or sign-in' : 'the first sign-in'} creates it`
  )
}

export { directories } from './directories.js'
