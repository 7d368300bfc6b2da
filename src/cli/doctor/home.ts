// Checks the home: its folders, its secrets, and their permissions.
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { config } from '../../config.js'
import { HOME_FOLDERS, problemOfHome, stateOfHome } from '../../home.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check, NotExamined } from './check.js'

const secretsFile = () => join(config().home, 'secrets.json')
const isNew = () => !existsSync(config().home)
const isOpen = (path: string) => (statSync(path).mode & 0o077) !== 0

export const homeCheck: Check = {
  name: 'home',
  about: 'the home belongs to this user, and nobody else can read it',
  examine: () => {
    const { home } = config()
    if (isNew()) return { found: `the first start creates ${home}`, next: 'start the appliance: gitstead up' }
    // The check of the secrets reports missing secrets.
    const problem = stateOfHome().state === 'locked' ? null : problemOfHome()
    if (problem !== null) throw new Ailment(problem, 'follow the message above')
    const { uid, mode } = statSync(home)
    if (uid !== process.getuid?.()) throw new Ailment(`${home} belongs to user ${uid}`, 'run gitstead as that user')
    if ((mode & 0o700) !== 0o700) throw new Ailment(`this user has no access to ${home}`, `chmod 700 ${home}`)
    if (mode & 0o077) throw new Ailment(`${home} is open to other users`, `chmod 700 ${home}`)
    return process.getuid?.() === 0 ? `${home}, of root: server, worker, git and database run as root` : home
  },
  mend: () => {
    chmodSync(config().home, 0o700)
    return `closed ${config().home} to other users`
  }
}

const MISSING = 'is missing'

/** Returns the fault of a folder and what to do about it; null when the folder is in order. */
function faultOf(path: string): { fault: string; remedy: string } | null {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return { fault: MISSING, remedy: `mkdir -m 700 ${path}` }
  if (!existsSync(path)) return { fault: 'is a broken link', remedy: `mount the target of ${path}, or remove the link` }
  const { uid, mode } = statSync(path)
  if (!statSync(path).isDirectory()) return { fault: 'is not a folder', remedy: `move ${path} away` }
  if (uid !== process.getuid?.()) {
    const chown = 'chown it to the owner of the home'
    // The folder of a mount belongs to root, so that nothing is written to it while the mount is missing.
    const remedy = uid === 0 ? `mount its file system, or, if it has none, ${chown}` : chown
    return { fault: `belongs to user ${uid}`, remedy }
  }
  if (mode & 0o077) return { fault: 'is open to other users', remedy: `chmod 700 ${path}` }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return { fault: 'is not writable', remedy: `chmod 700 ${path}, and check that it is not mounted read-only` }
  }
  if ((mode & 0o700) !== 0o700) return { fault: 'is closed to its owner', remedy: `chmod 700 ${path}` }
  // A database takes each folder among its files for a schema.
  return basename(path) === 'mysql' ? null : tryOut(path)
}

/** Writes, renames and removes a file, as the appliance does: a full, odd or broken file system may refuse any of these. */
function tryOut(path: string): { fault: string; remedy: string } | null {
  const [draft, name] = [join(path, `.doctor-${randomUUID()}`), join(path, `.doctor-${randomUUID()}`)]
  try {
    mkdirSync(draft, { mode: 0o700 })
    writeFileSync(join(draft, 'file'), 'tried by gitstead doctor\n', { flush: true })
    renameSync(join(draft, 'file'), name)
    return null
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    return { fault: `refuses a file (${syscall}: ${code})`, remedy: `check the file system of ${path}` }
  } finally {
    for (const made of [draft, name]) rmSync(made, { recursive: true, force: true })
  }
}

const folders = () => {
  const { home } = config()
  const all = existsSync(join(home, 'mysql')) ? [...HOME_FOLDERS, 'mysql'] : HOME_FOLDERS
  return all.map(name => ({ name, path: join(home, name), fault: faultOf(join(home, name)) }))
}

export const foldersCheck: Check = {
  name: 'folders',
  about:
    'every folder of the home exists, is closed to other users, and takes a file: doctor writes, renames and removes one',
  examine: () => {
    if (isNew()) throw new NotExamined('the home does not exist yet')
    const all = folders()
    const missing = all.filter(({ fault }) => fault?.fault === MISSING)
    if (missing.length === all.length) return 'the first start creates them'
    // The folders that machines share are made by hand.
    const areNew = missing.length > 0 && !existsSync(secretsFile())
    const ill = all.filter(each => each.fault !== null && !(areNew && missing.includes(each)))
    if (ill.length === 0 && areNew) return `the first start creates ${missing.map(({ name }) => name).join(', ')}`
    if (ill.length === 0) return `${all.map(({ name }) => name).join(', ')}`
    throw new Ailment(
      `${counted(ill.length, 'folder')} of the home ${ill.length === 1 ? 'has' : 'have'} a fault`,
      ill[0]?.fault?.remedy ?? '',
      ill.map(({ name, fault }) => `${name} ${fault?.fault}: ${fault?.remedy}`)
    )
  },
  mend: () => {
    const done: string[] = []
    for (const { name, path, fault } of folders()) {
      if (fault === null) continue
      if (fault.fault === MISSING) mkdirSync(path, { mode: 0o700 })
      else if (statSync(path).isDirectory() && statSync(path).uid === process.getuid?.()) chmodSync(path, 0o700)
      else continue
      done.push(name)
    }
    return `made or closed ${done.join(', ') || 'nothing'}`
  }
}

export const secretsCheck: Check = {
  name: 'secrets',
  about: 'secrets.json is complete, and only its owner can read it',
  examine: () => {
    const path = secretsFile()
    if (!existsSync(path)) {
      if (!existsSync(join(config().home, 'mysql'))) return 'the first start creates them'
      throw new Ailment(`${path} is missing`, 'restore it from a backup: the database cannot be opened without it')
    }
    if (isOpen(path)) throw new Ailment(`other users can read ${path}`, `chmod 600 ${path}`)
    if (!areWhole(path)) throw new Ailment(`${path} is damaged`, 'restore it from a backup')
    return 'only their owner can read them'
  },
  mend: () => {
    if (!existsSync(secretsFile()) || !isOpen(secretsFile())) throw new Error('only a backup has the secrets')
    chmodSync(secretsFile(), 0o600)
    return 'closed secrets.json to other users'
  }
}

function areWhole(path: string): boolean {
  try {
    const secrets = JSON.parse(readFileSync(path, 'utf8')) as { [name: string]: unknown }
    return ['database_password', 'encryption_key'].every(name => typeof secrets[name] === 'string')
  } catch {
    return false
  }
}
