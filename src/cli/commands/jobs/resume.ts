import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsResume extends BaseCommand {
  static override summary = 'Let workers take jobs of a queue again'
  static override examples = ['<%= config.bin %> jobs resume hooks']
  static override args = { queue: Args.string({ required: true }) }

  async run(): Promise<{ resumed: string }> {
    const { flags, args } = await this.parse(JobsResume)
    this.configure(flags)
    const [{ withDatabase }, { resumeQueue }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../queue/administer.js')
    ])
    await withDatabase(() => resumeQueue(args.queue))
    this.log(`resumed ${args.queue}`)
    return { resumed: args.queue }
  }
}
