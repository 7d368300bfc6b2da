import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'

export default class JobsPause extends BaseCommand {
  static override summary = 'Pause a queue: workers take no more of its jobs; running jobs go on to their end'
  static override examples = ['<%= config.bin %> jobs pause hooks', '<%= config.bin %> jobs pause builds --json']
  static override strict = false
  static override args = {
    queue: Args.string({
      required: true,
      description: 'the queue: default, builds, hooks, mail, maintenance or imports; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(JobsPause)
    this.configure(flags)
    const [{ doEach }, { withDatabase }, { commandOrigin }, { pauseQueue }] = await Promise.all([
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    const pause = async (queue: string) => {
      await pauseQueue(queue, commandOrigin())
      this.log(`paused ${queue}`)
      return { paused: queue }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), pause))
  }
}
