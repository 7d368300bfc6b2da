import { syncMirror } from '../../../areas/code/mirrors/mirrors.js'
import { requireMirror } from '../../../areas/code/mirrors/mirrors.queries.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class MirrorsSync extends BaseCommand {
  static override summary = 'Run a mirror now: a worker takes it'
  static override description =
    'It does not wait for the end: `mirrors show` has the result. A mirror that waits after a failure runs at once, too. With --json: the mirror as in `mirrors show`.'
  static override examples = ['<%= config.bin %> mirrors sync 3', '<%= config.bin %> mirrors sync 3 4 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the mirror') }

  async run() {
    const { flags, argv } = await this.parse(MirrorsSync)
    this.configure(flags)
    const start = async (id: number) => {
      const mirror = await orNotFound('mirror', id, () => requireMirror(id))
      const asked = viewMirror(await syncMirror(mirror, commandOrigin()))
      this.log(`mirror ${id} runs soon`)
      return asked
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), start))
  }
}
