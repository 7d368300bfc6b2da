import { freePath } from '../../../areas/ground/paths/reserved.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class PathsFree extends BaseCommand {
  static override summary = 'Let anybody take the old path of a group or user'
  static override description =
    'The old path no longer leads to the group or user that had it. With --json: {freed}, as `paths list` shows it.'
  static override examples = ['<%= config.bin %> paths free old-team', '<%= config.bin %> paths free old-team --json']
  static override args = { path: Args.string({ required: true, description: 'the old path' }) }

  async run() {
    const { args, flags } = await this.parse(PathsFree)
    this.configure(flags)
    const freed = await withDatabase(() => freePath(args.path, commandOrigin()))
    this.log(`freed ${freed.path}, which led to ${freed.leads_to}`)
    return { freed }
  }
}
