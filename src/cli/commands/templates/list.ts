import { listTemplates } from '../../../areas/ci/templates/files.js'
import { viewTemplateName } from '../../../areas/ci/templates/files.view.js'
import { listLicenses } from '../../../areas/ci/templates/licenses.js'
import { viewLicense } from '../../../areas/ci/templates/licenses.view.js'
import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { table } from '../../output/table.js'

const KINDS = ['licenses', 'gitignores', 'dockerfiles', 'gitstead_ci_ymls'] as const

interface Row {
  readonly kind: string
  readonly key: string
  readonly name: string
}

export default class TemplatesList extends BaseCommand {
  static override summary = 'List the templates of licenses, ignore files, Dockerfiles and CI files'
  static override examples = [
    '<%= config.bin %> templates list',
    '<%= config.bin %> templates list licenses',
    '<%= config.bin %> templates list gitignores --json'
  ]
  static override args = { kind: Args.string({ description: 'only templates of this kind', options: [...KINDS] }) }

  async run() {
    const { args } = await this.parse(TemplatesList)
    // The texts are long; `templates show` prints them.
    const licenses = listLicenses().map(license => {
      const { content, ...rest } = viewLicense(license)
      return rest
    })
    const all = {
      licenses,
      gitignores: listTemplates('gitignores').map(viewTemplateName),
      dockerfiles: listTemplates('dockerfiles').map(viewTemplateName),
      gitstead_ci_ymls: listTemplates('gitstead_ci_ymls').map(viewTemplateName)
    }
    const shown = KINDS.filter(kind => args.kind === undefined || args.kind === kind)
    const rows = shown.flatMap((kind): Row[] =>
      kind === 'licenses'
        ? licenses.map(({ key, name }) => ({ kind, key, name }))
        : all[kind].map(({ name }) => ({ kind, key: name, name }))
    )
    this.log(
      table(rows, [
        ['KIND', row => row.kind],
        ['KEY', row => row.key],
        ['NAME', row => row.name]
      ])
    )
    return Object.fromEntries(shown.map(kind => [kind, all[kind]])) as Partial<typeof all>
  }
}
