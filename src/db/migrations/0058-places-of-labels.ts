import type { Migration } from './migration.js'

const COPIES = (table: string, type: string, project: string) =>
  `update label_links k join ${table} t on t.id = k.target_id
     set k.of_project = t.${project}, k.of_author = t.author_id, k.of_created_at = t.created_at where k.target_type = '${type}'`

export const placesOfLabels: Migration = {
  name: '0058-places-of-labels',
  up: [
    // Copies of values of the target that never change, so that the targets of a label are found in the order of the lists.
    `alter table label_links add column of_project int unsigned not null default 0, add column of_author int unsigned not null default 0,
       add column of_created_at datetime(3) not null default '1970-01-01'`,
    COPIES('issues', 'Issue', 'project_id'),
    COPIES('merge_requests', 'MergeRequest', 'target_project_id'),
    `alter table label_links drop key label_links_label,
       add key label_links_place (label_id, target_type, of_project, of_created_at, target_id),
       add key label_links_author (of_author, target_type, label_id, of_created_at, target_id)`,
    // The number of changes of ranks: issue-counts.ts.
    'alter table issue_counts add column moves int unsigned not null default 0, add column turns int unsigned not null default 0'
  ],
  down: [
    'alter table issue_counts drop column moves, drop column turns',
    `alter table label_links drop key label_links_place, drop key label_links_author,
       add key label_links_label (label_id, target_type, target_id)`,
    'alter table label_links drop column of_project, drop column of_author, drop column of_created_at'
  ]
}
