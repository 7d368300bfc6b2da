// "Label".
import { Flag, IdOf, Integer, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { LabelReading } from './label-readings.js'

export const Label = Type.Object(
  {
    id: IdOf('the label'),
    name: Text('its title'),
    color: Text('`#` with hex digits'),
    description: Nullable(Text('the purpose of the label')),
    open_issues_count: Integer('the number of open issues with it that you can see'),
    closed_issues_count: Integer('the number of closed issues with it that you can see'),
    open_merge_requests_count: Integer('the number of open merge requests with it that you can see'),
    subscribed: Flag('whether you have subscribed to it'),
    priority: Nullable(Integer('the place among the labels of the project; null for none'))
  },
  { title: 'Label', description: 'A word that marks issues and merge requests of a project or group.' }
)

export const viewLabel = ({ label, counts, subscribed }: LabelReading) => ({
  id: label.id,
  name: label.title,
  color: label.color,
  description: label.description,
  open_issues_count: counts.open_issues_count,
  closed_issues_count: counts.closed_issues_count,
  open_merge_requests_count: counts.open_merge_requests_count,
  subscribed,
  priority: label.priority
})
