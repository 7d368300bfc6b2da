// The home: its folders, and who may look into them.
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'
import { HOME_FOLDERS } from '../../home.js'
import { Ailment, type Check, count, NotExamined } from './check.js'

const secretsFile = () => join(config().home, 'secrets.json')
const isNew = () => !existsSync(config().home)
const isOpen = (path: string) => (statSync(path).mode & 0o077) !== 0

export const homeCheck: Check = {
  name: 'home',
  about: 'the home belongs to this user, and nobody else may look into it',
  examine: () => {
    const { home } = config()
    if (isNew()) return `${home} will be made at the first start`
    const { uid, mode } = statSync(home)
    if (uid !== process.getuid?.()) throw new Ailment(`${home} belongs to user ${uid}`, 'run as that user')
    if ((mode & 0o700) !== 0o700) throw new Ailment(`this user may not use ${home}`, `chmod 700 ${home}`)
    if (mode & 0o077) throw new Ailment(`others may look into ${home}`, `chmod 700 ${home}`)
    return home
  },
  mend: () => {
    chmodSync(config().home, 0o700)
    return `closed ${config().home} to others`
  }
}

const MISSING = 'is missing'

/** Why a folder is not well, and what to do; null when it is. */
function faultOf(path: string): { fault: string; remedy: string } | null {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return { fault: MISSING, remedy: `mkdir -m 700 ${path}` }
  if (!existsSync(path)) return { fault: 'is a link to nothing', remedy: 'mount what it names, or remove it' }
  const { uid, mode } = statSync(path)
  if (!statSync(path).isDirectory()) return { fault: 'is no folder', remedy: `move ${path} away` }
  if (uid !== process.getuid?.()) return { fault: `belongs to user ${uid}`, remedy: `chown it to the home's owner` }
  if (mode & 0o077) return { fault: 'is open to others', remedy: `chmod 700 ${path}` }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return (mode & 0o700) === 0o700 ? null : { fault: 'is closed to its owner', remedy: `chmod 700 ${path}` }
  } catch {
    return { fault: 'cannot be written to', remedy: `chmod 700 ${path}, and see that it is not mounted read-only` }
  }
}

const folders = () => {
  const { home } = config()
  const all = existsSync(join(home, 'mysql')) ? [...HOME_FOLDERS, 'mysql'] : HOME_FOLDERS
  return all.map(name => ({ name, path: join(home, name), fault: faultOf(join(home, name)) }))
}

export const foldersCheck: Check = {
  name: 'folders',
  about: 'every folder of the home is there, writable, and closed to others',
  examine: () => {
    if (isNew()) throw new NotExamined('there is no home yet')
    const all = folders()
    if (all.every(({ fault }) => fault?.fault === MISSING)) return 'will be made at the first start'
    const ill = all.filter(({ fault }) => fault !== null)
    if (ill.length === 0) return `${all.map(({ name }) => name).join(', ')}`
    throw new Ailment(
      `${count(ill.length, 'folder')} of the home ${ill.length === 1 ? 'is' : 'are'} not well`,
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
  about: 'secrets.json is whole, and readable by its owner alone',
  examine: () => {
    const path = secretsFile()
    if (!existsSync(path)) {
      if (!existsSync(join(config().home, 'mysql'))) return 'will be made at the first start'
      throw new Ailment(`${path} is missing`, 'restore it from a backup: the database cannot be opened without it')
    }
    if (isOpen(path)) throw new Ailment(`others may read ${path}`, `chmod 600 ${path}`)
    if (!areWhole(path)) throw new Ailment(`${path} is damaged`, 'restore it from a backup')
    return 'readable by their owner alone'
  },
  mend: () => {
    if (!existsSync(secretsFile()) || !isOpen(secretsFile())) throw new Error('only a backup has them')
    chmodSync(secretsFile(), 0o600)
    return 'closed secrets.json to others'
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
