import { factLines } from '../appliance/fact-lines.js'
import { readFacts } from '../appliance/read-facts.js'
import { BaseCommand } from '../framework/base.js'
import { withDatabase } from '../framework/with-database.js'
import { Flags } from '../oclif.js'
import { fields } from '../output/table.js'

export default class Info extends BaseCommand {
  static override summary = 'Show versions, addresses, counts and sizes of the appliance'
  static override description =
    'Useful for bug reports and capacity planning. Sizes are disk usage. Measuring a folder stops after --seconds; the output marks folders that were not measured completely. With --json: {versions, machine, home, urls, database, counts, folders}; sizes are in bytes.'
  static override examples = ['<%= config.bin %> info', '<%= config.bin %> info --seconds 60 --json']
  static override flags = {
    seconds: Flags.integer({
      default: 10,
      min: 1,
      max: 3600,
      description: 'measure folders for at most this many seconds'
    })
  }

  async run() {
    const { flags } = await this.parse(Info)
    this.configure(flags)
    const facts = await withDatabase(() => readFacts(flags.seconds))
    this.log(fields(factLines(facts)))
    return facts
  }
}
