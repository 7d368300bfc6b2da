import { requireMirror } from '../../../areas/code/mirrors/mirrors.queries.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields, printable } from '../../output/table.js'

export default class MirrorsShow extends BaseCommand {
  static override summary = 'Show a mirror, how its last run ended, and when it runs next'
  static override description =
    'Passwords and private keys are never shown. With --json: the mirror as the API shows it; refs has the branches and tags that the last run left as they were.'
  static override examples = ['<%= config.bin %> mirrors show 3', '<%= config.bin %> mirrors show 3 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the mirror') }

  async run() {
    const { flags, argv } = await this.parse(MirrorsShow)
    this.configure(flags)
    const show = async (id: number) => {
      const { refs, branch_patterns, ...mirror } = viewMirror(await orNotFound('mirror', id, () => requireMirror(id)))
      this.log(fields({ ...mirror, branch_patterns: branch_patterns.join(' ') }))
      for (const { ref, status, reason } of refs) this.log(printable(`${status} ${ref}: ${reason}`))
      return { ...mirror, branch_patterns, refs }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}
