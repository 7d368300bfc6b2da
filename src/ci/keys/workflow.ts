// `workflow` decides whether there is a pipeline, and what happens to it when a newer pipeline is created.
import { isJob } from '../config-defaults.js'
import { type CiWorkflow, NEW_COMMIT_ACTIONS } from '../config-types.js'
import { checkKeys, given, readChoice, readSection, readText, type Section } from '../config-values.js'
import { readWorkflowRules } from '../rules/read-rules.js'

const NO_WORKFLOW: CiWorkflow = {
  rules: null,
  onNewCommit: 'conservative',
  stopsOnFailure: false,
  name: null
}

export function readWorkflow(root: Section): CiWorkflow {
  const value = given(root, 'workflow')
  if (value === undefined || isJob(value)) return NO_WORKFLOW
  const workflow = readSection(root, 'workflow')
  if (!workflow) return NO_WORKFLOW
  checkKeys(workflow, ['rules', 'auto_cancel', 'name'], [])
  const cancel = readSection(workflow, 'auto_cancel')
  if (cancel) checkKeys(cancel, ['on_new_commit', 'on_job_failure'], [])
  return {
    rules: readWorkflowRules(workflow),
    onNewCommit: cancel ? readChoice(cancel, 'on_new_commit', NEW_COMMIT_ACTIONS, 'conservative') : 'conservative',
    stopsOnFailure: cancel ? readChoice(cancel, 'on_job_failure', ['all', 'none'] as const, 'none') === 'all' : false,
    name: readText(workflow, 'name', 255)
  }
}
