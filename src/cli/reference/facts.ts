// Facts that apply to all commands, for the man page.
import { ExitCode } from '../framework/failures.js'

const MEANINGS: { readonly [Name in keyof typeof ExitCode]: string } = {
  failed: 'The command failed, or it found a fault.',
  usage: 'The command line is wrong, or a value is not allowed.',
  notFound: 'The record does not exist.',
  conflict: 'The record already exists, or its state does not allow the change.',
  unavailable: 'The database or the appliance does not answer: try again later.',
  running: 'Another process is already doing the same work.'
}

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'The command succeeded.'],
  ...(Object.keys(MEANINGS) as (keyof typeof ExitCode)[]).map(name => [ExitCode[name], MEANINGS[name]] as const)
]

export const FILES: readonly (readonly [path: string, meaning: string])[] = [
  ['/var/lib/gitstead', 'The home if root runs the appliance. Below, HOME stands for the home.'],
  ['~/.local/share/gitstead', 'The home if another user runs the appliance.'],
  ['HOME/config.yaml', 'The configuration. It overrides the defaults in `config/default.yaml` of the program.'],
  ['HOME/secrets.json', 'The keys of all encrypted data. Without them a backup cannot be restored completely.'],
  ['HOME/mysql', 'The private database, unless another database is configured.'],
  ['HOME/repositories, HOME/artifacts, HOME/traces', 'Repositories, and the archives and logs of builds.'],
  ['HOME/run, HOME/tmp', 'Sockets and locks, and temporary files.']
]

export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['GITSTEAD_HOME', 'The home.'],
  [
    'GITSTEAD_SECTION_KEY',
    'Any key of the configuration: `database.url` is GITSTEAD_DATABASE_URL, `port` is GITSTEAD_PORT. Separate the items of ' +
      'a list with commas. The environment overrides the file, and a flag overrides the environment.'
  ],
  ['NO_COLOR', 'If set, commands print no colors.']
]
