import { lintWithFiles } from '../../../ci/lint.js'
import { BaseCommand } from '../../framework/base.js'
import { filesAround } from '../../input/repository-files.js'
import { readTextFile } from '../../input/text-file.js'
import { Args } from '../../oclif.js'

/** Maximum bytes of a CI file. */
const LIMIT = 1_048_576

export default class CiLint extends BaseCommand {
  static override summary = 'Check a CI file without creating anything'
  static override description =
    'No appliance is needed. Included local files (from the checkout around the file) and templates are read; included files of other projects and URLs are not, and give a warning. Prints one line for each error, with the job and the key, and one for each key without effect. The exit code is 1 if there is an error. With --json: {ok, file, errors, warnings}.'
  static override examples = [
    '<%= config.bin %> ci lint .gitstead-ci.yml',
    'git show HEAD:.gitstead-ci.yml | <%= config.bin %> ci lint - --json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the CI file; - reads standard input' })
  }

  async run() {
    const { args } = await this.parse(CiLint)
    const text = await readTextFile('the CI file', args.file, LIMIT)
    const { errors, warnings } = await lintWithFiles(text, await filesAround(args.file, LIMIT))
    for (const warning of warnings) this.log(`warning: ${warning}`)
    for (const error of errors) this.log(error)
    if (errors.length === 0) this.log('the CI file is valid')
    else process.exitCode = 1
    return { ok: errors.length === 0, file: args.file, errors, warnings }
  }
}
