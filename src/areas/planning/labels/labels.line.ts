// The record of a label that commands print. This file does not load TypeBox, which takes 0.1 s.
import type { CountedLabel } from './labels.queries.js'

export const viewLabelLine = (label: CountedLabel) => ({
  id: label.id,
  title: label.title,
  color: label.color,
  description: label.description,
  group: label.group,
  priority: label.priority,
  issues: label.issues,
  merge_requests: label.merge_requests
})
