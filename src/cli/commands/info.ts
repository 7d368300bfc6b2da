import { Flags } from '@oclif/core'
import { BaseCommand } from '../base.js'

export default class Info extends BaseCommand {
  static override summary = 'Show versions, addresses, counts and sizes of the appliance'
  static override description =
    'For a report of a fault, and for planning. Sizes are what files take of the disk; counting them ends after --seconds, and what was not counted by then is told. With --json: {versions, machine, home, urls, database, counts, folders}; sizes are bytes.'
  static override examples = ['<%= config.bin %> info', '<%= config.bin %> info --seconds 60 --json']
  static override flags = {
    seconds: Flags.integer({ default: 10, min: 1, max: 3600, description: 'how long folders are counted at the most' })
  }

  async run() {
    const { flags } = await this.parse(Info)
    this.configure(flags)
    const [{ withDatabase }, { readFacts }, { fields }, { factLines }] = await Promise.all([
      import('../with-database.js'),
      import('../read-facts.js'),
      import('../table.js'),
      import('../fact-lines.js')
    ])
    const facts = await withDatabase(() => readFacts(flags.seconds))
    this.log(fields(factLines(facts)))
    return facts
  }
}
