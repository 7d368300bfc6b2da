import type { Migration } from './migration.js'

export const notificationSettings: Migration = {
  name: '0052-notification-settings',
  up: [
    // The events for which users receive mail. The global setting has the type Global and the number 0, because a key
    // cannot contain null.
    `create table if not exists notification_settings (
      user_id int unsigned not null,
      source_type varchar(16) not null,
      source_id int unsigned not null,
      level tinyint unsigned not null,
      events set('new_note', 'new_issue', 'reopen_issue', 'close_issue', 'reassign_issue', 'new_merge_request',
        'reopen_merge_request', 'close_merge_request', 'reassign_merge_request', 'merge_merge_request', 'failed_pipeline',
        'success_pipeline') not null default '',
      notification_email varchar(255) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      primary key (user_id, source_type, source_id),
      key notification_settings_source (source_type, source_id, level, user_id)
    )`,
    // Nothing has ever written this column, and users who are not members have settings, too.
    'alter table members drop column notification_level'
  ],
  down: [
    'alter table members add column notification_level tinyint unsigned not null default 3',
    'drop table if exists notification_settings'
  ]
}
