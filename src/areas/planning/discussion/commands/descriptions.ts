// Commands in the description of a new issue or merge request change the values with which it is created. Decided: they
// run at creation and not at updates, and `/close` does nothing then.
import { levelIn, may } from '../../../../access/authorize.js'
import { DEVELOPER } from '../../../../lib/levels.js'
import { withoutLines } from '../../../../text/slash-commands.js'
import type { ReadDescription } from '../../participation/descriptions.js'
import { findCommands, planCommands } from './plan.js'

/** Commands that change a value that is set at creation. Not specified: other commands stay in the text. */
const AT_CREATION: ReadonlySet<string> = new Set([
  'title',
  'wip',
  'target_branch',
  'assign',
  'unassign',
  'label',
  'unlabel',
  'relabel',
  'milestone',
  'remove_milestone',
  'due',
  'remove_due_date'
])

export const readDescription: ReadDescription = async (type, project, body, actor) => {
  const text = body.description ?? ''
  const commands = findCommands(text, AT_CREATION)
  if (commands.length === 0) return body
  const subject = {
    type,
    id: 0,
    userId: actor.user?.id ?? 0,
    authorId: actor.user?.id ?? 0,
    title: body.title,
    state: 'opened',
    labels: (body.labels ?? '').split(',').flatMap(title => title.trim() || []),
    spent: 0,
    mayUpdate: true,
    mayMerge: async () => false,
    mayPlan: type === 'Issue' ? may(actor, 'issue.plan', project) : levelIn(project, actor) >= DEVELOPER
  } as const
  const { taken, change } = await planCommands(commands, subject, project)
  const { labels: edit, ...others } = change
  const labels = edit && { labels: edit(subject.labels).join(',') }
  return { ...body, ...others, ...labels, description: withoutLines(text, taken) }
}
