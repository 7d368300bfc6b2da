import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

const KINDS = ['licenses', 'gitignores'] as const

export default class TemplatesList extends BaseCommand {
  static override summary = 'List the templates of licenses and ignore files'
  static override examples = [
    '<%= config.bin %> templates list',
    '<%= config.bin %> templates list licenses',
    '<%= config.bin %> templates list gitignores --json'
  ]
  static override args = { kind: Args.string({ description: 'only those of one kind', options: [...KINDS] }) }

  async run() {
    const { args } = await this.parse(TemplatesList)
    const [{ table }, { listLicenses }, { viewLicense }, { listTemplates }, { viewTemplateName }] = await Promise.all([
      import('../../table.js'),
      import('../../../areas/templates/licenses.js'),
      import('../../../areas/templates/licenses.view.js'),
      import('../../../areas/templates/files.js'),
      import('../../../areas/templates/files.view.js')
    ])
    const wants = (kind: (typeof KINDS)[number]) => args.kind === undefined || args.kind === kind
    // The texts are long: `templates show` has them.
    const licenses = listLicenses().map(license => {
      const { content, ...rest } = viewLicense(license)
      return rest
    })
    const gitignores = listTemplates('gitignores').map(viewTemplateName)
    const rows = [
      ...(wants('licenses') ? licenses.map(({ key, name }) => ({ kind: 'licenses', key, name })) : []),
      ...(wants('gitignores') ? gitignores.map(({ name }) => ({ kind: 'gitignores', key: name, name })) : [])
    ]
    const named = [
      ['KIND', row => row.kind],
      ['KEY', row => row.key],
      ['NAME', row => row.name]
    ] as const satisfies Parameters<typeof table<(typeof rows)[number]>>[1]
    this.log(table(rows, named))
    return { ...(wants('licenses') ? { licenses } : {}), ...(wants('gitignores') ? { gitignores } : {}) }
  }
}
