import { pauseQueue } from '../../../areas/upkeep/jobs/jobs.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class JobsPause extends BaseCommand {
  static override summary = 'Pause a queue: workers take no new jobs from it, but running jobs continue'
  static override examples = ['<%= config.bin %> jobs pause hooks', '<%= config.bin %> jobs pause builds --json']
  static override strict = false
  static override args = {
    queue: Args.string({
      required: true,
      description: 'the queue: default, builds, hooks, mail, maintenance, imports or mirrors; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(JobsPause)
    this.configure(flags)
    const pause = async (queue: string) => {
      await pauseQueue(queue, commandOrigin())
      this.log(`paused ${queue}`)
      return { paused: queue }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), pause))
  }
}
