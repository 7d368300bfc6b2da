import { deleteMirror } from '../../../areas/code/mirrors/mirrors.js'
import { requireMirror } from '../../../areas/code/mirrors/mirrors.queries.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class MirrorsRemove extends BaseCommand {
  static override summary = 'Remove a mirror, but keep the branches on both sides'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the mirror as in `mirrors show`.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> mirrors remove 3 --dry-run',
    '<%= config.bin %> mirrors remove 3 4 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the mirror') }
  static override flags = { ...destroyingFlags }

  async run() {
    const { flags, argv } = await this.parse(MirrorsRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => orNotFound('mirror', id, () => requireMirror(id)),
        loss: ({ id, direction, url, project }) => `to remove ${direction} mirror ${id} (${url}) of ${project}`,
        destroy: async mirror => {
          if (!dryRun) await deleteMirror(mirror, commandOrigin())
          this.log(`${dryRun ? 'would remove' : 'removed'} mirror ${mirror.id}`)
          const view = viewMirror(mirror)
          return dryRun ? { would_delete: view } : { deleted: view }
        }
      })
    )
  }
}
