// What all commands have in common, for the man page.
import { ExitCode } from '../base.js'

const MEANINGS: { readonly [Name in keyof typeof ExitCode]: string } = {
  failed: 'It failed, or what it looked at is not well.',
  usage: 'The command was written wrongly, or a value is not one that can be taken.',
  notFound: 'What was named does not exist.',
  conflict: 'It exists already, or its state does not allow what was asked for.',
  unavailable: 'The database or the appliance does not answer: ask again later.',
  running: 'Another process does the same right now, and is left to it.'
}

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'It is done.'],
  ...(Object.keys(MEANINGS) as (keyof typeof ExitCode)[]).map(name => [ExitCode[name], MEANINGS[name]] as const)
]

export const FILES: readonly (readonly [path: string, meaning: string])[] = [
  ['/var/lib/gitstead', 'The home where root runs the appliance; HOME stands for it below.'],
  ['~/.local/share/gitstead', 'The home of anybody else.'],
  ['HOME/config.yaml', 'The configuration, over the defaults of `config/default.yaml` beside the program.'],
  ['HOME/secrets.json', 'The keys of what is stored encrypted. Without it a backup cannot be used whole.'],
  ['HOME/mysql', 'The private database, where no other one is configured.'],
  ['HOME/repositories, HOME/artifacts, HOME/traces', 'Repositories; archives and logs of builds.'],
  ['HOME/run, HOME/tmp', 'Sockets and locks; files under way.']
]

export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['GITSTEAD_HOME', 'The home.'],
  [
    'GITSTEAD_SECTION_KEY',
    'Any key of the configuration: `database.url` is GITSTEAD_DATABASE_URL, `port` is GITSTEAD_PORT. Lists are parted by ' +
      'commas. It wins over the file, and a flag wins over it.'
  ],
  ['NO_COLOR', 'Where it is set, nothing is printed in colours.']
]
