import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsPause extends BaseCommand {
  static override summary = 'Pause a queue: workers take no more of its jobs; running jobs go on to their end'
  static override examples = ['<%= config.bin %> jobs pause hooks', '<%= config.bin %> jobs pause builds --json']
  static override args = {
    queue: Args.string({ required: true, description: 'the queue: default, builds, hooks, mail or maintenance' })
  }

  async run(): Promise<{ paused: string }> {
    const { flags, args } = await this.parse(JobsPause)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { pauseQueue }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    await withDatabase(() => pauseQueue(args.queue, commandOrigin()))
    this.log(`paused ${args.queue}`)
    return { paused: args.queue }
  }
}
