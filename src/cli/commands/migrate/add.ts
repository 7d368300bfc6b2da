import { addMigration } from '../../../areas/migrate/runs/migrations.js'
import { checkPeople } from '../../../areas/migrate/runs/namespaces.js'
import { READERS } from '../../../areas/migrate/runs/readers.js'
import { BadParameters } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { openCsvFile } from '../../input/csv-file.js'
import { readSecret } from '../../input/password.js'
import { pathFlag } from '../../input/path-flag.js'
import { Args, Flags } from '../../oclif.js'

const MOST_PEOPLE = 100_000

export default class MigrateAdd extends BaseCommand {
  static override summary = 'Prepare to move projects from another forge'
  static override description =
    'Stores the address of the forge and a token for it, which is encrypted. Nothing is read yet: see `migrate plan` and `migrate run`. A token of an administrator shows all projects, people with their addresses, and their SSH keys. People are matched by mail addresses that both sides have confirmed; --people names others: a CSV file with the columns source and here, for usernames there and here. Everybody else gets a placeholder (`migrate placeholders`). The forge is never changed: all requests are reads.'
  static override examples = [
    '<%= config.bin %> migrate add old https://git.example.com --kind gitlab3 --token-file token.txt',
    '<%= config.bin %> migrate add old https://git.example.com --kind gitlab3 --token-stdin --people people.csv --map tools/web=web-tools'
  ]
  static override args = {
    name: Args.string({ required: true, description: 'a name for this migration' }),
    url: Args.string({ required: true, description: 'the URL of the forge, as people open it in a browser' })
  }
  static override flags = {
    kind: Flags.string({ required: true, options: Object.keys(READERS), description: 'the kind of forge' }),
    'token-file': pathFlag({ description: 'a file whose first line is an access token of the forge' }),
    'token-stdin': Flags.boolean({ description: 'read the token from standard input' }),
    people: pathFlag({ description: 'a CSV file with the columns source and here' }),
    map: Flags.string({
      multiple: true,
      description:
        'SOURCE=HERE: put the projects of a namespace of the forge into this one here, which exists already; otherwise groups are created, and the parts of the path of a subgroup are joined by dashes'
    }),
    rate: Flags.integer({ default: 50, min: 1, max: 1000, description: 'requests in a second, at most' }),
    keys: Flags.boolean({ description: 'matched users get the SSH keys that they have there' }),
    'commit-comments': Flags.boolean({
      description: 'read comments on commits from GitLab too, with a request for each commit'
    }),
    'trust-addresses': Flags.boolean({
      description:
        'match people by their mail addresses also where the forge does not say who has confirmed them (gitea): anybody there can then get the records of others here'
    })
  }

  async run() {
    const { args, flags } = await this.parse(MigrateAdd)
    this.configure(flags)
    const token = await readSecret('token', {
      stdin: flags['token-stdin'],
      ...(flags['token-file'] === undefined ? {} : { file: flags['token-file'] })
    })
    const people = flags.people === undefined ? {} : await readPeople(flags.people)
    const map = Object.fromEntries((flags.map ?? []).map(pairOf))
    const { kind, rate } = flags
    const { name } = await withDatabase(async () => {
      await checkPeople(people)
      const settings = {
        kind,
        url: args.url,
        map,
        people,
        rate,
        keys: flags.keys === true,
        trust: flags['trust-addresses'] === true,
        comments: flags['commit-comments'] === true
      }
      return addMigration(args.name, token, settings, commandOrigin())
    })
    this.log(`added the migration ${name}: next, gitstead migrate plan ${name}`)
    return { name, kind, url: args.url }
  }
}

function pairOf(text: string): readonly [string, string] {
  const [, from, to] = /^([^=]{1,1000})=([A-Za-z0-9_.-]{1,255})$/.exec(text) ?? []
  const problem = `--map ${text} is not SOURCE=HERE`
  if (from === undefined || to === undefined) throw new BadParameters(problem, problem)
  return [from, to]
}

async function readPeople(file: string): Promise<Record<string, string>> {
  const columns = ['source', 'here']
  const people: Record<string, string> = {}
  let count = 0
  for await (const line of (await openCsvFile(file, { known: columns, required: columns })).lines) {
    const problem = 'error' in line ? line.error : line.values.source && line.values.here ? '' : 'a value is missing'
    const text = `${file}, line ${line.line}: ${++count > MOST_PEOPLE ? `more than ${MOST_PEOPLE} people` : problem}`
    if (problem !== '' || count > MOST_PEOPLE) throw new BadParameters(text, text)
    if ('values' in line) people[line.values.source ?? ''] = line.values.here ?? ''
  }
  return people
}
