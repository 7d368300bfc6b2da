import type { Migration } from './migration.js'

export const ciKeys: Migration = {
  name: '0038-ci-keys',
  up: [
    `alter table builds
      add column needs mediumtext null,
      add column start_in int unsigned null,
      add column resource_group varchar(255) null,
      add column ready_at datetime(3) null,
      add column timeout int unsigned null,
      add column interruptible boolean not null default false`,
    // `each_build`: the builds of a pipeline do not all follow the order of stages. `on_new_commit` is null when no new
    // commit supersedes the pipeline.
    `alter table pipelines
      add column each_build boolean not null default false,
      add column on_new_commit varchar(16) null,
      add column coverage double null`
  ],
  down: [
    'alter table pipelines drop column each_build, drop column on_new_commit, drop column coverage',
    `alter table builds
      drop column needs, drop column start_in, drop column resource_group, drop column ready_at, drop column timeout,
      drop column interruptible`
  ]
}
