import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

const FILES = ['gitignores', 'dockerfiles', 'gitstead_ci_ymls'] as const
const KINDS = ['licenses', ...FILES]

export default class TemplatesShow extends BaseCommand {
  static override summary = 'Print the text of one template'
  static override description =
    'The text alone goes to standard output, so that it can be written to a file. Placeholders of a license that are ' +
    'not given stay as they are; the year is filled in.'
  static override examples = [
    '<%= config.bin %> templates show gitignores Node > .gitignore',
    '<%= config.bin %> templates show licenses mit --fullname "Ada Lovelace" > LICENSE',
    '<%= config.bin %> templates show licenses gpl-3.0 --project Engine --fullname "Ada Lovelace" --json'
  ]
  static override args = {
    kind: Args.string({ description: 'what it is a template of', required: true, options: [...KINDS] }),
    key: Args.string({ description: 'its key, as `templates list` shows it', required: true })
  }
  static override flags = {
    project: Flags.string({ description: 'name of the copyrighted project, for a license' }),
    fullname: Flags.string({ description: 'copyright holder, for a license' })
  }

  async run() {
    const { args, flags } = await this.parse(TemplatesShow)
    const kind = FILES.find(name => name === args.kind)
    const template = kind ? await file(kind, args.key) : await license(args.key, flags)
    // The text as it is: a line more would make another file of it.
    if (!this.jsonEnabled()) process.stdout.write(template.content)
    return template
  }
}

async function license(key: string, placeholders: { project?: string; fullname?: string }) {
  const [{ findLicense }, { viewLicense }, { nobody }] = await Promise.all([
    import('../../../areas/templates/licenses.js'),
    import('../../../areas/templates/licenses.view.js'),
    import('../../../access/actor.js')
  ])
  return viewLicense(findLicense(key, placeholders, nobody))
}

async function file(kind: (typeof FILES)[number], name: string) {
  const [{ findTemplate }, { viewTemplate }] = await Promise.all([
    import('../../../areas/templates/files.js'),
    import('../../../areas/templates/files.view.js')
  ])
  return viewTemplate(findTemplate(kind, name))
}
