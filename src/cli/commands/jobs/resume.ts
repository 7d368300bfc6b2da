import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'

export default class JobsResume extends BaseCommand {
  static override summary = 'Resume a paused queue: workers take its jobs again'
  static override examples = ['<%= config.bin %> jobs resume hooks', '<%= config.bin %> jobs resume builds --json']
  static override strict = false
  static override args = {
    queue: Args.string({
      required: true,
      description: 'the queue: default, builds, hooks, mail, maintenance or imports; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(JobsResume)
    this.configure(flags)
    const [{ doEach }, { withDatabase }, { commandOrigin }, { resumeQueue }] = await Promise.all([
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    const resume = async (queue: string) => {
      await resumeQueue(queue, commandOrigin())
      this.log(`resumed ${queue}`)
      return { resumed: queue }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), resume))
  }
}
