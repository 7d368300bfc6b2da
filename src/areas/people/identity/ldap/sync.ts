// Brings the accounts of a directory up to date, in one reading: each page of people is compared with their accounts, which are
// marked as seen. When the whole directory was read, accounts without the mark of this reading belong to people who have left. So
// the memory for it does not grow with the directory, and a reading that stops early blocks nobody.
import type { Entry } from 'ldapts'
import { type Origin, scheduleOrigin } from '../../../../access/actor.js'
import { Conflict, Failure, Invalid } from '../../../../errors.js'
import { type Connection, withDirectory } from '../../../../ldap/connection.js'
import type { Directory } from '../../../../ldap/directory.js'
import { DirectoryFailure } from '../../../../ldap/failure.js'
import type { KnownGroups } from '../../../../ldap/groups.js'
import { entriesOf, IDS_AT_ONCE, readEntries } from '../../../../ldap/people.js'
import { type DirectoryPerson, personOf } from '../../../../ldap/person.js'
import type { TaskContext } from '../../../../queue/task.js'
import { givenLevels } from '../../members/given-members.js'
import { changedRights, noteSeen, saysOther } from '../../users/identities.js'
import { blockByDirectory, isBlockedBy, unblockByDirectory } from '../../users/user-state.js'
import { bringUpToDate, hasOtherAddress } from '../bring-up-to-date.js'
import { createPerson, type Person } from '../provision.js'
import { countUnseen, type KnownPerson, knownPeople, listUnseen } from './accounts.queries.js'
import { directories, grantsOf, personHere } from './directories.js'

/** So few people may always leave at once, whatever their percentage. */
const FEW = 3

type Figures = Record<'people' | 'created' | 'changed' | 'blocked' | 'unblocked', number>

/** A reading that cannot be right, so that nobody is blocked. */
class Suspicious extends Failure {}

/** Synchronizes all directories, each on its own. Throws the first failure after the last one. */
export async function synchronize(context: TaskContext): Promise<Readonly<Record<string, number>>> {
  const figures: Figures = { people: 0, created: 0, changed: 0, blocked: 0, unblocked: 0 }
  let failure: Failure | undefined
  for (const directory of directories()) {
    try {
      await new Synchronization(directory, context, figures).run()
    } catch (error) {
      if (!(error instanceof DirectoryFailure || error instanceof Suspicious)) throw error
      const remedy = error instanceof DirectoryFailure ? `. Remedy: ${error.remedy}` : ''
      context.note(`${error.message}; nobody was blocked${remedy}`)
      failure ??= error
    }
  }
  if (failure) throw failure
  return { ...figures }
}

class Synchronization {
  readonly #began = new Date()
  readonly #groups: KnownGroups = new Map()
  readonly #origin: Origin
  #read = 0

  constructor(
    private readonly directory: Directory,
    private readonly context: TaskContext,
    private readonly figures: Figures
  ) {
    this.#origin = { ...scheduleOrigin(), name: directory.name }
  }

  run(): Promise<void> {
    return withDirectory(this.directory, async connection => {
      for await (const entries of readEntries(connection, this.directory)) {
        await this.#takePage(connection, entries)
        this.context.signal.throwIfAborted()
      }
      await this.#blockGone(connection)
    })
  }

  #note(text: string): void {
    this.context.note(`${this.directory.name}: ${text}`)
  }

  async #takePage(connection: Connection, entries: readonly Entry[]): Promise<void> {
    const people = entries.flatMap(entry => {
      const person = personOf(entry, this.directory)
      if (typeof person !== 'string') return person.disabled ? [] : [person]
      this.#note(`${entry.dn} was left out: ${person}`)
      return []
    })
    this.#read += people.length
    this.figures.people += people.length
    this.context.count(people.length)
    const { name: provider } = this.directory
    const uids = people.map(({ uid }) => uid)
    const accounts = new Map((await knownPeople(provider, uids)).map(account => [account.extern_uid, account]))
    const ids = [...accounts.values()].map(({ id }) => id)
    const given = await givenLevels(provider, ids)
    for (const person of people) {
      this.context.signal.throwIfAborted()
      const account = accounts.get(person.uid)
      if (account) await this.#update(connection, account, person, given.get(account.id) ?? new Map())
      else if (this.directory.create === 'sync') await this.#create(connection, person)
    }
    // At the end of the page, so that new accounts are marked too.
    await noteSeen(provider, uids, this.#began)
  }

  async #here(connection: Connection, person: DirectoryPerson): Promise<Person> {
    const grants = await grantsOf(connection, this.directory, person, this.#groups)
    if (!grants) this.#note(`${person.dn} is in too many groups: rights and memberships stay as they are`)
    return personHere(this.directory, person, grants)
  }

  async #create(connection: Connection, person: DirectoryPerson): Promise<void> {
    const here = await this.#here(connection, person)
    this.#note(`${person.username} is new`)
    if (!this.context.dryRun) {
      try {
        await createPerson(here, { approval: false }, this.#origin)
      } catch (error) {
        if (!(error instanceof Conflict || error instanceof Invalid)) throw error
        return this.#note(`${person.dn} gets no account: ${error.message}`)
      }
    }
    this.figures.created += 1
  }

  async #update(
    connection: Connection,
    account: KnownPerson,
    person: DirectoryPerson,
    given: ReadonlyMap<string, number>
  ): Promise<void> {
    const { dryRun } = this.context
    if (isBlockedBy(this.directory.name, account)) {
      this.#note(`${account.username} is back`)
      this.figures.unblocked += 1
      if (!dryRun) await unblockByDirectory(account.id, this.directory.name, this.#origin)
    } else if (account.state !== 'active') {
      // Somebody here or another directory has blocked the user, which this directory knows nothing about.
      return
    }
    const here = await this.#here(connection, person)
    const differences = differencesOf(account, here, given)
    if (differences.length === 0 && (dryRun || !saysOther(account, here))) return
    if (dryRun) {
      this.figures.changed += 1
      return this.#note(`${account.username} has another ${differences.join(', ')}`)
    }
    const { changed, problem } = await bringUpToDate(account, here, this.#origin)
    if (problem !== undefined) this.#note(problem)
    if (changed) this.figures.changed += 1
  }

  /** Throws Suspicious when more people are missing than can have left within an hour. */
  async #blockGone(connection: Connection): Promise<void> {
    const { name, max_gone: most } = this.directory
    if (connection.references > 0) {
      this.#note(`${connection.references} references to other servers were not followed`)
    }
    const { all, unseen } = await countUnseen(name, this.#began)
    if (unseen === 0) return
    if (this.#read === 0) throw new Suspicious(`${name}: the directory has nobody, where ${all} people have accounts`)
    if (unseen > Math.max(FEW, (all * most) / 100)) {
      throw new Suspicious(
        `${name}: ${unseen} of ${all} people with accounts are missing in the directory, and max_gone allows ${most} %`
      )
    }
    for (let [after, part] = [0, await this.#unseen(0)]; part.length > 0; part = await this.#unseen(after)) {
      this.context.signal.throwIfAborted()
      const there = await this.#there(connection, part)
      for (const account of part) if (!there.has(account.extern_uid)) await this.#block(account)
      after = part.at(-1)?.id ?? after
    }
  }

  #unseen(after: number): Promise<KnownPerson[]> {
    return listUnseen(this.directory.name, this.#began, after, IDS_AT_ONCE)
  }

  /** Looks again for each person by the id: some directories leave out entries of a page while others change. */
  async #there(connection: Connection, accounts: readonly KnownPerson[]): Promise<ReadonlySet<string>> {
    const uids = accounts.map(({ extern_uid }) => extern_uid)
    const found = await entriesOf(connection, this.directory, uids)
    const people = found.map(entry => personOf(entry, this.directory))
    return new Set(people.flatMap(person => (typeof person === 'string' || person.disabled ? [] : [person.uid])))
  }

  async #block(account: KnownPerson): Promise<void> {
    if (!this.context.dryRun && !(await blockByDirectory(account.id, this.directory.name, this.#origin))) {
      return this.#note(`${account.username} has left, but stays: the last administrator cannot be blocked`)
    }
    this.#note(`${account.username} has left`)
    this.figures.blocked += 1
  }
}

/** What differs, in words. Memberships may differ where people gave them, which then changes nothing. */
function differencesOf(account: KnownPerson, here: Person, given: ReadonlyMap<string, number>): string[] {
  const { name, groups } = here
  const { admin, external } = changedRights(account, here)
  return [
    ...(name !== account.name ? ['name'] : []),
    ...(hasOtherAddress(account, here) ? ['address'] : []),
    ...(admin !== undefined ? ['administrator'] : []),
    ...(external !== undefined ? ['external'] : []),
    ...(groups && !isSame(groups, given) ? ['memberships'] : [])
  ]
}

const isSame = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean =>
  one.size === other.size && [...one].every(([path, level]) => other.get(path.toLowerCase()) === level)
