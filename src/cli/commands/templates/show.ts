import { nobody } from '../../../access/actor.js'
import { findTemplate } from '../../../areas/ci/templates/files.js'
import { viewTemplate } from '../../../areas/ci/templates/files.view.js'
import { findLicense } from '../../../areas/ci/templates/licenses.js'
import { viewLicense } from '../../../areas/ci/templates/licenses.view.js'
import { BaseCommand } from '../../framework/base.js'
import { orNotFound } from '../../input/or-not-found.js'
import { Args, Flags } from '../../oclif.js'

const FILES = ['gitignores', 'dockerfiles', 'gitstead_ci_ymls'] as const
const KINDS = ['licenses', ...FILES]

export default class TemplatesShow extends BaseCommand {
  static override summary = 'Print the text of one template'
  static override description =
    'Prints only the text, so that you can redirect it to a file. In a license, it fills in the year and the placeholders ' +
    'for which you give a value; other placeholders do not change.'
  static override examples = [
    '<%= config.bin %> templates show gitignores Node > .gitignore',
    '<%= config.bin %> templates show licenses mit --fullname "Ada Lovelace" > LICENSE',
    '<%= config.bin %> templates show licenses gpl-3.0 --project Engine --fullname "Ada Lovelace" --json'
  ]
  static override args = {
    kind: Args.string({ description: 'the kind of the template', required: true, options: [...KINDS] }),
    key: Args.string({ description: 'the key of the template, as `templates list` shows it', required: true })
  }
  static override flags = {
    project: Flags.string({ description: 'for a license: the name of the project' }),
    fullname: Flags.string({ description: 'for a license: the name of the copyright holder' })
  }

  async run() {
    const { args, flags } = await this.parse(TemplatesShow)
    const kind = FILES.find(name => name === args.kind)
    const template = kind ? await file(kind, args.key) : await license(args.key, flags)
    // Write the text unchanged: an additional line break would change the file.
    if (!this.jsonEnabled()) process.stdout.write(template.content)
    return template
  }
}

async function license(key: string, placeholders: { project?: string; fullname?: string }) {
  return viewLicense(await orNotFound('license', key, () => findLicense(key, placeholders, nobody)))
}

async function file(kind: (typeof FILES)[number], name: string) {
  return viewTemplate(await orNotFound('template', name, () => findTemplate(kind, name)))
}
