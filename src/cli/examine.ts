// The checks of `gitstead doctor`: what each found, and what to do where it is not well.
import { execFile } from 'node:child_process'
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { config } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { embeddedState } from '../db/embedded.js'
import { migrationStates } from '../db/migrate.js'
import { checkSandbox } from '../runner/sandbox.js'
import { allowedRanges } from '../webhooks/target.js'

export interface Check {
  name: string
  ok: boolean
  /** What was found, in one line. */
  found: string
  /** What to do; null when all is well. */
  remedy: string | null
}

const run = promisify(execFile)
const MINIMUM_FREE = 1024 ** 3

/** Runs all checks; none throws, and none changes anything. */
export async function examine(): Promise<Check[]> {
  const checks: Record<string, () => Promise<string> | string> = {
    node: checkNode,
    git: checkGit,
    mariadb: checkMariadb,
    sandbox: async () => {
      await checkSandbox()
      return config().runner.sandbox === 'none' ? 'switched off by runner.sandbox: none' : 'bubblewrap works'
    },
    home: checkHome,
    secrets: checkSecrets,
    disk: checkDisk,
    hooks: () => `${allowedRanges().length} ranges allowed beside public addresses`,
    database: checkDatabase
  }
  const results: Check[] = []
  for (const [name, check] of Object.entries(checks)) results.push(await examineOne(name, check))
  await closeDatabase()
  return results
}

/** What is wrong, with the remedy behind the colon. */
class Ailment extends Error {
  constructor(
    found: string,
    readonly remedy: string
  ) {
    super(found)
  }
}

async function examineOne(name: string, check: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, ok: true, found: await check(), remedy: null }
  } catch (error) {
    const found = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    return { name, ok: false, found, remedy: error instanceof Ailment ? error.remedy : 'as the line says' }
  }
}

function checkNode(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return process.versions.node
  throw new Ailment(`${process.versions.node} is too old`, 'install Node.js 20.19 or newer')
}

async function checkGit(): Promise<string> {
  const text = await versionOf('git', ['--version'], 'git')
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number)
  if (major > 2 || (major === 2 && minor >= 38)) return text
  throw new Ailment(`${text} is too old`, 'install git 2.38 or newer')
}

async function checkMariadb(): Promise<string> {
  if (config().database.url !== null) return 'not needed: database.url names a server'
  return versionOf('mariadbd', ['--no-defaults', '--version'], 'mariadb-server-core')
}

async function versionOf(command: string, args: string[], debianPackage: string): Promise<string> {
  try {
    return (await run(command, args)).stdout.trim()
  } catch {
    throw new Ailment(`${command} does not run`, `install the Debian package ${debianPackage}`)
  }
}

function checkHome(): string {
  const { home } = config()
  if (!existsSync(home)) return `${home} will be made at the first start`
  const { uid, mode } = statSync(home)
  if (uid !== process.getuid?.()) throw new Ailment(`${home} belongs to user ${uid}`, 'run as that user')
  if (mode & 0o077) throw new Ailment(`others may look into ${home}`, `chmod 700 ${home}`)
  return home
}

function checkSecrets(): string {
  const path = join(config().home, 'secrets.json')
  if (!existsSync(path)) {
    if (!existsSync(join(config().home, 'mysql'))) return 'will be made at the first start'
    throw new Ailment(`${path} is missing`, 'restore it from a backup: the database cannot be opened without it')
  }
  if (statSync(path).mode & 0o077) throw new Ailment(`others may read ${path}`, `chmod 600 ${path}`)
  return 'readable by their owner alone'
}

function checkDisk(): string {
  let folder = config().home
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB free`
  if (free < MINIMUM_FREE) throw new Ailment(text, 'make room: pushes and builds stop when the disk is full')
  return text
}

async function checkDatabase(): Promise<string> {
  if (config().database.url === null && !(await embeddedState()).up) return 'down, as the appliance is'
  const states = await migrationStates()
  const missing = states.filter(({ applied_at }) => applied_at === null).length
  if (missing > 0) throw new Ailment(`${missing} migrations are missing`, 'run gitstead db migrate')
  return 'answers, and its schema is current'
}
