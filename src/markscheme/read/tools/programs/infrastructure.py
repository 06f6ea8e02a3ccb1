"""Containers, clusters, infrastructure as code, clouds."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import Effect, ProgramRule

RULES = (
    ProgramRule(
        programs="docker podman nerdctl buildah finch",
        changes="*",
        reads="""
            ps images logs inspect version info search history diff top stats port events ls wait
            help */ls */list */inspect */ps */logs */history */df */info */show */version */config
            */images */top */port */events */stats */diff scout scout/* manifest/inspect
            compose/wait buildx/du buildx/imagetools/inspect buildx/version imagetools/inspect
            trust/inspect completion machine/list swarm/ca compose/attach mcp/* model/list
            model/status sbom sbom/*
        """,
        valued="-H --host -l --context -c --config -f --file -p --project-name --profile --root",
    ),
    ProgramRule(
        programs="docker-compose podman-compose",
        changes="*",
        reads="ps logs config images top port events version ls help stats wait",
        valued="-f --file -p --project-name --profile --env-file",
    ),
    ProgramRule(
        programs="ctr crictl",
        changes="""
            */rm */remove */delete */create */run */start */stop */kill */pull */push */import
            */tag */prune rm rmi rmp run create start stop pull update */label
        """,
        reads="*",
    ),
    ProgramRule(
        programs="kubectl kubecolor k microk8s.kubectl oc",
        changes="*",
        reads="""
            get describe logs top explain api-resources api-versions version cluster-info diff
            auth/can-i auth/whoami config/view config/current-context config/get-* rollout/status
            rollout/history wait events kustomize completion options plugin/list port-forward proxy
            help tree ctx ns neat status whoami projects project
        """,
        valued="-n --namespace --context --cluster --kubeconfig -s --server --user --as --token",
    ),
    ProgramRule(
        programs="helm",
        changes="*",
        reads="""
            list ls get get/* status history hist show show/* inspect search search/* template lint
            version env repo/list dependency/list dep/list plugin/list verify help completion diff
            diff/* secrets/view
        """,
        valued="-n --namespace --kube-context --kubeconfig --registry-config",
    ),
    ProgramRule(
        programs="helmfile",
        changes="apply sync destroy delete fetch deps",
        reads="diff list template lint status build",
    ),
    ProgramRule(
        programs="skaffold tilt",
        changes="*",
        reads="version help diagnose render config/list",
    ),
    ProgramRule(
        programs="kustomize",
        changes="edit create",
        reads="build version cfg",
    ),
    ProgramRule(
        programs="terraform tofu terragrunt",
        changes="*",
        reads="""
            plan validate show output graph version providers console state/list state/show
            state/pull workspace/list workspace/show help metadata test providers/schema
        """,
        reading=r"-check|-write=false",
        outputs=r"-out",
    ),
    ProgramRule(
        programs="pulumi",
        changes="*",
        reads="""
            preview pre logs about whoami version config/get stack/ls stack/output stack/history
            stack/graph plugin/ls help
        """,
    ),
    ProgramRule(
        programs="cdk sam serverless sls chalice zappa",
        changes="""
            deploy destroy bootstrap init import watch delete remove rollback migrate package build
            sync create
        """,
        reads="synth diff list ls doctor metadata info logs validate print docs help",
    ),
    ProgramRule(
        programs="packer vagrant",
        changes="*",
        reads="validate inspect version status global-status ssh-config port help box/list",
    ),
    ProgramRule(
        programs="ansible-playbook ansible-pull",
        changes="*",
        reading=r"--check|-C|--syntax-check|--list-\w+",
    ),
    ProgramRule(
        programs="ansible-galaxy ansible-vault",
        changes="*",
        reads="list search info view collection/list role/list role/info",
    ),
    ProgramRule(
        programs="salt salt-call puppet chef-client knife capistrano cap fab",
        changes="*",
        reading=r"--noop|--why-run|--list",
    ),
    ProgramRule(
        programs="aws awslocal",
        changes="*/*",
        reads="""
            help */help */describe-* */get-* */list-* */head-* */batch-get-* */lookup-* */search*
            */filter-* */query */scan */wait */wait/* */ls */select-* */estimate-* */validate-*
            */simulate-* */preview-* */tail */check-* */detect-* */test-* */count-* */admin-get-*
            */admin-list-* */view-* */decode-* */discover-* */batch-describe-* */compare-*
            */retrieve-* */download-db-log-file-portion configure/list configure/get
            configure/list-profiles s3/presign logs/start-query sts/get-* sts/assume-role ecr/get-*
            history/* codeartifact/get-* cloudformation/detect-*
        """,
        valued="--profile --region --output --endpoint-url --query",
    ),
    # Command lines that name a noun and a verb, such as `gcloud compute instances delete`.
    ProgramRule(
        programs="""
    gcloud az doctl linode-cli hcloud flyctl fly heroku netlify firebase supabase wrangler eksctl
    argocd flux istioctl nomad consul vault railway render ibmcloud oci openstack scw yc aliyun
    tccli civo exo vultr-cli upctl sentry-cli stripe twilio shopify sf sfdx cf rosa minikube kind
    k3d kops talosctl tkn circleci buildkite-agent jira linear slack doppler infisical op bw lpass
    databricks snow astro prefect dagster airflow kaggle huggingface-cli hf wandb mlflow dvc lakectl
    confluent  rabbitmqadmin mc gsutil s3cmd s5cmd b2 azcopy
    multipass lxc incus virsh vboxmanage VBoxManage prlctl limactl colima orb networksetup nmcli
    gsettings dconf xfconf-query tailscale cloudflared ngrok neonctl neon pscale turso
    mongocli auth0 okta amplify eas expo ionic cdktf crossplane velero linkerd cilium sops oras
    skopeo crane regctl cosign juju maas pulumi-esc spacectl tfe kn func copilot porter waypoint
    boundary eb ecs-cli rke2 rancher kustomizer argo werf okteto devspace garden platform upsun
    clever scalingo koyeb northflank deta deployctl appwrite nhost contentful sanity strapi
    directus posthog launchdarkly ldcli newrelic datadog-ci dog pagerduty opsgenie splunk logcli
    promtool amtool grafana-cli influx etcdctl zkCli.sh kcctl pulsar-admin nats rpk hdfs hadoop gam
    clasp sfctl swa azd bicep
""",
        changes="""
    activate add adopt allow append apply approve archive assign attach authorize backup bind block
    bootstrap bump cancel clean clear clone close commit configure connect copy cordon cp create
    deactivate delete demote deploy deprovision deregister destroy detach disable disconnect drain
    drop edit enable evict failover fork generate get-credentials grant import init insert
    install invoke invite
    issue kill launch link lock login logout make map mark merge migrate mk mb mkdir modify mount
    move mv new patch pause pin power-off power-on promote protect provision prune publish purge
    push put rb reassign reboot reconcile recover recreate redeploy redrive refresh register reject
    release reload remove rename reopen replace replay rerun reset resize resolve restart restore
    resume retry revert revoke rm rollback roll rotate rsync run-command save scale schedule seed
    send set set-env shutdown sign snapshot start stop submit suspend swap switch sync tag taint
    terminate touch transfer trigger truncate unassign unbind uncordon undelete undeploy uninstall
    unlink unlock unmap unpin unpause unpublish unset unsubscribe untag up down update upgrade
    upload upsert use write zap add-* attach-* cancel-* create-* delete-* detach-* disable-*
    enable-* import-* modify-* patch-* put-* rebuild-* remove-* reset-* resize-* revoke-* set-*
    start-* stop-* update-* upload-*
""",
        reads="""
    list ls get show describe view status info logs log read cat head version versions help search
    find diff history inspect top ps whoami check validate lint print tail events plan preview
    output outputs watch usage metrics stats checks test-iam-permissions explain query count exists
    current-context doctor ping health open docs regions releases whois summary state wait list-*
    get-* describe-* show-* print-* check-* query-* lookup-*
""",
        by_verb=True,
    ),
    ProgramRule(programs="surge", changes="*", reads="list whoami", bare=Effect.CHANGE),
    ProgramRule(
        programs="vercel vc now",
        changes="*",
        reads="""
            ls list inspect logs whoami help dev build env/ls domains/ls domains/inspect alias/ls
            project/ls teams/ls certs/ls dns/ls secrets/ls
        """,
        changing="--prod|--prebuilt|--force",
        bare=Effect.CHANGE,
    ),
    ProgramRule(
        programs="rabbitmqctl",
        changes="*",
        reads="status list_* cluster_status environment report ping node_health_check help version",
        valued="-n -p -t",
    ),
    ProgramRule(
        programs="kafka-topics kafka-topics.sh kafka-acls kafka-acls.sh kafka-configs"
        " kafka-configs.sh kafka-consumer-groups kafka-consumer-groups.sh",
        reads="*",
        changing=r"--(create|delete|alter|add|remove|reset-offsets)",
    ),
)
