// Checks the programs that the appliance runs, and their versions.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { config } from '../../config.js'
import { checkSandbox } from '../../runner/sandbox.js'
import { fullVersion } from '../../version.js'
import { Ailment, type Check } from './check.js'

const run = promisify(execFile)

export const gitsteadCheck: Check = {
  name: 'gitstead',
  about: 'the version and the home of the appliance',
  examine: () => `${fullVersion}, home ${config().home}`
}

export const nodeCheck: Check = {
  name: 'node',
  about: 'the version of Node.js, and where it is',
  examine: () => `${process.versions.node}, ${process.execPath}`
}

export const gitCheck: Check = {
  name: 'git',
  about: 'git 2.38 or newer',
  examine: async () => {
    const text = await versionOf('git', ['--version'], 'git')
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number)
    if (major > 2 || (major === 2 && minor >= 38)) return text
    throw new Ailment(`${text} is too old`, 'install git 2.38 or newer')
  }
}

export const mariadbCheck: Check = {
  name: 'mariadb',
  about: 'mariadbd runs, unless database.url names another database',
  examine: () => {
    if (config().database.url !== null) return 'not needed: database.url names another database'
    return versionOf('mariadbd', ['--no-defaults', '--version'], 'mariadb-server-core')
  }
}

export const sandboxCheck: Check = {
  name: 'sandbox',
  about: 'the sandbox for builds works',
  examine: async () => {
    await checkSandbox()
    return config().runner.sandbox === 'none' ? 'off (runner.sandbox: none)' : 'bubblewrap works'
  }
}

async function versionOf(command: string, args: string[], debianPackage: string): Promise<string> {
  try {
    return (await run(command, args)).stdout.trim()
  } catch {
    throw new Ailment(`${command} does not run`, `install the Debian package ${debianPackage}`)
  }
}
